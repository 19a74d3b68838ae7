"""A slicing plan in a report: sentences, strip, tables and the regression."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from hettop.report.page import Block, Columns, Items, Paragraph, Plot, Table
from hettop.report.terminal.blocks import block_text
from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.energy import LayerPower
from hettop.studies.plan.measure import Other, Sliced, plan_result, table_result
from hettop.studies.plan.page import blocks
from hettop.studies.plan.result import PlanResult
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.costs import for_objective
from hettop.studies.plan.slicing.planner import Slice, plan, read_plan
from hettop.studies.plan.slicing.search import search
from tests.report.sessions import widest
from tests.studies.plan import documents
from tests.studies.plan.cutting.test_costs import SURVEY
from tests.studies.plan.documents import THREE
from tests.studies.plan.sliced import COSTS, RAN, SLICED
from tests.studies.plan.slicing.tables import Fields, fields, table_of
from tests.studies.planned import NOT_RUN, ONE_DEVICE, PLAN, TORN


def drawings(found: PlanResult) -> list[Block]:
    return [block for block in blocks(found) if isinstance(block, Columns | Plot)]


def tables(found: PlanResult) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def text_of(found: PlanResult, width: int = 120) -> str:
    return " ".join(block_text(list(blocks(found)), width).split())


def page(sliced: Sliced) -> str:
    return text_of(plan_result(sliced))


def of_table(given: Fields, objective: str = "latency", *, unit_told: bool = True) -> PlanResult:
    table = for_objective(table_of(given), objective)
    return table_result(table, plan(table), baselines(table), objective=objective, planner_ms=0.25, unit_told=unit_told)


def test_it_says_what_the_screen_says() -> None:
    texts = [block.text for block in blocks(PLAN) if isinstance(block, Paragraph)]
    assert texts[0].startswith("The plan: 3 slices, on 2 devices; predicted gain +10%")
    assert "The plan: A_1, B_2, A_3 (latency 11.0 ms, layers: 3, found in 0.200 ms)." in texts
    assert any(isinstance(block, Items) and "at 2 cuts several values cross" in block.texts for block in blocks(PLAN))


def test_costs_that_contradict_each_other_are_a_warning_above_all_else() -> None:
    first = next(iter(blocks(TORN)))
    assert isinstance(first, Paragraph)
    assert first.warning
    assert first.text.startswith("Costs are inconsistent")


def test_layers_are_as_high_as_their_cost_and_lettered_by_device() -> None:
    strip = drawings(PLAN)[0]
    assert isinstance(strip, Columns)
    assert [column.height for column in strip.columns] == [2.0, 3.0, 5.0]
    assert "".join(strip.letters[column.group] for column in strip.columns) == "ABA"
    assert [column.label for column in strip.columns] == ["1", "2", "3"]


def test_slices_baselines_and_devices_alone_are_tables() -> None:
    slices, compared, devices = tables(PLAN)
    assert slices.shown().rows[0] == ["1", "1", "A", "stem_conv", "2.50", "2.00", "+25%", "+10%"]
    assert compared.rows[1] == ("B preferred", "12.1", "+10%")
    assert compared.rows[3] == ("N preferred", "n/a", "it cannot run")
    assert devices.rows[0] == ("A", "", "12.0", "0.500", "-0.100", "0.930", "2")
    assert devices.rows[1] == ("B", "", "11.0", "0.250", "0.125", "n/a", "1")


def test_a_gain_is_the_same_figure_wherever_it_stands() -> None:
    """13 ms on B against 9.4: 1 - 9.4 / 13 were 28%."""
    text = text_of(plan_result(SLICED))
    assert "predicted gain +38% over B alone (9.40 ms against 13.0)" in text
    assert "B preferred 13.0 +38%" in text
    assert "28%" not in text


def test_what_did_not_run_has_no_measured_figures() -> None:
    slices, _, devices = tables(NOT_RUN)
    assert slices.shown().heading[-1] == "predicted ms"
    assert "in the run ms" not in devices.shown().heading


def test_the_regression_is_drawn_where_cuts_of_several_sizes_were_tried() -> None:
    assert len(drawings(PLAN)) == 2
    assert len(drawings(ONE_DEVICE)) == 1


def test_a_device_on_which_no_cut_was_tried_has_no_line() -> None:
    found = plan_result(documents.estimated())
    assert tables(found)[-1].rows == [
        ("A", "21.0", "20.0", "1.00", "-0.200", "1.000", "4"),
        ("B", "n/a", "n/a", "n/a", "n/a", "n/a", "0"),
    ]
    (plot,) = (each for each in drawings(found) if isinstance(each, Plot))
    assert [each.name for each in plot.series] == ["A", "line of A"]


def test_a_plan_of_a_table_reports_what_its_slices_cost_and_whose_costs_they_are() -> None:
    found = of_table(THREE)
    slices, compared = tables(found)
    assert slices.shown().rows[0] == ["1", "1", "B", "19.0", "0", "0", "19.0"]
    assert slices.shown().rows[1] == ["2", "2–3", "N", "46.0", "5.00", "19.0", "70.0"]
    assert compared.rows[-1] == ("B preferred", "107", "+20%")  # 19 + 47 + 41 = 107 against 89
    text = text_of(found)
    assert "The plan: B_1, N_2 (latency 89.0 ms, layers: 3, candidate devices: 2, found in 0.250 ms)." in text
    assert "Not run: costs come from a file." in text
    assert "costs come from the file, in ms" in text


def test_other_searches_are_compared_and_one_that_was_not_made_says_why() -> None:
    table = table_of(THREE)
    found = table_result(
        table, plan(table), baselines(table), objective="latency", planner_ms=0.1, search=search(table)
    )
    rows = {row[0]: row[1] for row in tables(found)[1].rows}
    assert rows["exhaustive search of 18 plans"] == "89.0"
    assert rows["best random or baseline plan"] == "89.0"
    more = table_of(fields(20, "BLGN"))
    text = text_of(table_result(more, plan(more), {}, objective="latency", planner_ms=0.1, search=search(more)))
    assert "exhaustive search: n/a, 7.6e+13 possible plans; up to 2,000,000 are tried" in text


def test_costs_whose_unit_is_taken_for_granted_are_said_to_be() -> None:
    assert "mJ assumed" in text_of(of_table(THREE, "energy", unit_told=False))
    assert "taken to be" not in text_of(of_table(THREE))


def test_where_costs_are_energy_what_was_predicted_of_time_stands_beside_them() -> None:
    """B takes 2.5 W and was predicted to take 2.1 ms."""
    slices = tables(plan_result(documents.energy()))[0].shown()
    assert slices.heading[-6:] == ["predicted mJ", *slices.heading[-5:]]
    assert slices.heading[-5] == "predicted ms"
    assert slices.rows[0][-6:] == ["5.25", "2.10", "4.20", "4.00", "-48%", "+5.0%"]


def test_what_is_left_out_is_counted() -> None:
    many = of_table(fields(60, "A", size=[60] * 60, limit={"A": 100}))
    assert "only the first 40 of 60 slices are shown; --json has all" in text_of(many)
    read = PlanResult.from_line(json.loads(msgspec.json.encode(many.line())))
    assert "only the first 16 of 60 slices are shown; --json has all" in text_of(read)
    wide = msgspec.structs.replace(ONE_DEVICE, baselines={f"{place} preferred": 1.0 for place in range(41)})
    assert "only the 40 cheapest baselines are shown; --json has all" in text_of(wide)


@pytest.mark.parametrize("width", [60, 80])
def test_the_page_fits_its_width(width: int) -> None:
    name = "A" + "x" * 40
    many = of_table(fields(60, "A", D=[name], size=[60] * 60, limit={name: 100}))
    for found in (many, plan_result(replace(SLICED, ran=RAN))):
        assert widest(block_text(list(blocks(found)), width).splitlines()) <= width


SEARCHED = replace(
    SLICED,
    ran=replace(RAN, others_ms=(12.0,), others_runs=5, beside_ms=(14.0,)),
    search=search(COSTS.table),
    others=[Other("A preferred", (Slice(0, 2, 0),))],
    power=LayerPower(((1, 2),) * 3, ((1, 1),) * 3, "rapl"),
)


@pytest.mark.parametrize(
    "sliced", [SLICED, replace(SLICED, ran=RAN), SEARCHED, documents.energy(), documents.estimated()]
)
def test_a_recording_shows_what_the_command_prints(sliced: Sliced) -> None:
    found = plan_result(sliced)
    assert text_of(PlanResult.from_line(json.loads(msgspec.json.encode(found.line())))) == text_of(found)


def test_the_page_of_a_model_says_where_costs_come_from_and_that_nothing_ran() -> None:
    text = page(SLICED)
    assert "B_1, A_2, B_3 (latency 9.40 ms" in text
    assert "costs were measured here" in text
    assert "A 21.0 1.00 1.20 1.000 4" in text
    assert "use --run to measure" in text
    assert page(documents.estimated()).count("layer times are ESTIMATED") == 1
    assert "layer times are ESTIMATED" in page(replace(documents.estimated(), given=False))


def test_which_way_a_prediction_is_off_is_said_and_not_reported_by_a_sign_alone() -> None:
    text = page(replace(SLICED, ran=RAN))
    assert "error: negative = predicted too low" in text
    assert "9.40 ms: 38% too low" in text  # 9.4 of 15.2
    slower = page(replace(SLICED, ran=replace(RAN, plan_ms=4.7)))
    assert "9.40 ms: 100% too high" in slower


def test_the_whole_model_then_and_now_stands_beside_what_is_predicted_of_now() -> None:
    text = page(replace(SLICED, ran=RAN))
    assert "A 21.0 21.0 1.00" in text
    assert "B 13.0 26.0 1.00" in text
    assert "once adjusted" not in text, "it is inconsistent"
    calm = page(replace(SLICED, ran=replace(RAN, whole_ms=(21.0, 15.6))))
    # 1.2 times as slow on B: (2.1 + 3.6) x 1.2 + 3.7 = 10.54, of 15.2.
    assert "31% too low after adjusting for the machine's speed (10.5 ms)" in calm


def test_a_line_that_begins_below_nothing_is_explained() -> None:
    assert "begins below 0 ms" not in page(SLICED)
    below = tuple(replace(each, ms=each.ms - 1.4) for each in SURVEY.moved)
    costs = cost_table(("A", "B"), replace(SURVEY, moved=below))
    text = page(replace(SLICED, survey=replace(SURVEY, moved=below), costs=costs))
    assert "A 21.0 1.00 -0.200" in text
    assert "where it is below 0 ms, small cuts cost the median of the smaller ones tried" in text


def test_a_contradiction_is_reported_once() -> None:
    torn = page(replace(SLICED, survey=replace(SURVEY, profiled_ms=(7.0, 13.0))))
    told = "the whole model on A took 7.00 ms while layers were profiled, 21.0 ms while it ran whole; measure again"
    assert torn.count(told) == 1
    assert torn.index(told) < torn.index("B_1, A_2, B_3"), "above what it makes doubtful"


def test_outputs_of_units_that_round_are_compared_three_ways() -> None:
    text = page(documents.estimated())
    assert "the whole model on A; the cut model run there differs by 3.0e-06 of the largest element (1e-05" in text
    assert "the whole model on other units differs by: B 2.0e-04; twice that is allowed" in text


def test_a_plan_of_the_users_own_may_be_worse_and_says_whose_it_is() -> None:
    """21 ms on A against 13 on B."""
    text = page(replace(SLICED, plan=read_plan(COSTS.table, "A_1"), given=True))
    assert "Your plan: one slice; predicted gain -38% over B alone" in text
    assert "B preferred 13.0 -38%" in text
