"""What follows from a System without simulating it: operating points and linear analysis."""

from vbg.analysis.crossings import Band, Crossing, Margins, band, margins
from vbg.analysis.linear import Linearisation, linearise
from vbg.analysis.modes import Mode
from vbg.analysis.operating import OperatingPoint, operating_point
from vbg.analysis.probe import available_inputs
from vbg.analysis.response import (
    FrequencyResponse,
    TransferFunction,
    frequency_response,
    root_locus,
    step_response,
    transfer_function,
)

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
