"""The story of one API version: shipped, outgrown, replaced under load, taken away.

::

    ship -> create -> expand -> clients begin -> flip -> migrate -> clients end -> compare
                                                      -> unserve -> remove -> check -> compare again

Each step shows what was measured in it; what must hold is judged at the end (``outcome``). Leaving early, by an error
or by Ctrl-C, ends every process that the run started.
"""

from __future__ import annotations

from instar.controlplane import plane as plane_module
from instar.demo import recorder, world
from instar.demo import story as story_module
from instar.report import run

__all__ = ["tell"]


async def tell(plane: plane_module.ControlPlane, steps: recorder.Recorder, options: story_module.Options) -> run.Run:
    """The whole story on a control plane that runs already; what came of it."""
    async with world.opened(plane, steps) as here:
        story = story_module.Story(here, options)
        async with story.sampler.watching():
            await story.ship()
            await story.create()
            async with story.serving() as webhook:
                await story.expand(webhook)
                async with story.writing():
                    await story.flip()
                    await story.migrate()
                await story.compare()
                await story.unserve()
                await story.remove()
            await story.check()
        return await story.end()
