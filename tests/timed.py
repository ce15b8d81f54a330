"""lit's format of tests, which also tells the processor time that a test's processes took."""
import resource

import lit.formats
import lit.Test


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class TimedTest(lit.formats.ShTest):
    def execute(self, test, lit_config):
        before = children()
        result = super().execute(test, lit_config)
        result.addMetric("cpu", lit.Test.RealMetricValue(children() - before))
        return result
