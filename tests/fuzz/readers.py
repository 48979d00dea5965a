"""Every reader of something from outside; `test_readers` finds one that is missing."""

from tests.fuzz import clusters, configurations, images, jobs, previews
from tests.fuzz.reader import Reader

READERS: dict[str, Reader] = {
    **configurations.READERS,
    **previews.READERS,
    **jobs.READERS,
    **clusters.READERS,
    **images.READERS,
}
