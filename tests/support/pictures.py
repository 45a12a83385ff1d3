"""Checks that a figure of Matplotlib is drawn whole."""

from matplotlib.text import Text


def assert_nothing_is_cut_off(figure):
    """Every text lies within the figure; ticks beyond the limits are not drawn, and the layout sees to the others."""
    figure.draw_without_rendering()
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    ticks = {label for axis in axes for label in axis.get_ticklabels(which="both")}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and text not in ticks]
    assert texts
    for text in texts:
        extent = text.get_window_extent()
        assert extent.x0 >= -1, text
        assert extent.y0 >= -1, text
        assert extent.x1 <= figure.bbox.x1 + 1, text
        assert extent.y1 <= figure.bbox.y1 + 1, text
