"""A page's exact estimates were computed anew, for minutes, on a processor that rounds otherwise than the last one."""

import numpy as np

from experiments.accuracy import cases, same_case


def test_an_estimate_belongs_to_its_case_whatever_the_processor_rounds() -> None:
    one, other = (case.fingerprint for case in list(cases())[:2])
    assert same_case(one, np.nextafter(one, np.inf))
    assert not same_case(one, one + 1e-6)
    assert not same_case(one, other)
    assert not same_case(one, one[:-1])
