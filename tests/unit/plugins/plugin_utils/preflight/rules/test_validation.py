"""Values of spark_validation with which no job can run are told once for a cluster, before any host is touched."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined


def test_a_value_with_which_no_job_can_run_is_one_problem_of_all_its_hosts() -> None:
    given = {"spark_validation_records": "5", "spark_validation_topic": "orders"}
    assert [one for one in check_inventory(combined()) if one.name == "unfit_validation"] == []
    (found,) = [one for one in check_inventory(combined(**given)) if one.name == "unfit_validation"]
    assert (found.variable, found.allowed, len(found.hosts)) == ("spark_validation_consent_topic", "'orders'", 3)
    (found,) = [one for one in check_inventory(combined(spark_validation_records=5)) if one.name == "unfit_validation"]
    assert (found.variable, found.found, found.allowed) == ("spark_validation_records", "5", "6 or more")
