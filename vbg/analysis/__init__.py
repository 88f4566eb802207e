"""What follows from a System without simulating it: operating points and linear analysis."""

from vbg.analysis.linear.crossings import Band, Crossing, Margins, band, margins
from vbg.analysis.linear.linear import Linearisation, linearise
from vbg.analysis.linear.modes import Mode
from vbg.analysis.linear.response import (
    FrequencyResponse,
    TransferFunction,
    frequency_response,
    root_locus,
    step_response,
    transfer_function,
)
from vbg.analysis.probe.probe import available_inputs
from vbg.analysis.rest.operating import OperatingPoint, operating_point

__all__ = [
    "Band",
    "Crossing",
    "FrequencyResponse",
    "Linearisation",
    "Margins",
    "Mode",
    "OperatingPoint",
    "TransferFunction",
    "available_inputs",
    "band",
    "frequency_response",
    "linearise",
    "margins",
    "operating_point",
    "root_locus",
    "step_response",
    "transfer_function",
]
