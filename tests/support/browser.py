"""A page in headless Chromium, by the DevTools protocol over a pipe."""

import base64
import json
import os
import select
import shutil
import subprocess
from itertools import count

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
PATIENCE = 300  # seconds
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync --remote-debugging-pipe
"""


class Page:
    """A page with a size, in light or dark. ``events`` are all that DevTools reported."""

    def __init__(self, profile):
        ours, theirs = os.pipe(), os.pipe()  # we write to the first, they to the second
        command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={profile}"]
        shell = f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}'  # DevTools reads from 3 and writes to 4
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(ours[0], theirs[1]),
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": str(profile)},  # where it saves files
        )
        os.close(ours[0])
        os.close(theirs[1])
        self.to_browser, self.from_browser = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb", 0)
        self.numbers = count(1)
        self.unread = b""
        self.events = []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def ask(self, method, **params):
        """The answer to a command of the protocol."""
        number = next(self.numbers)
        command = {"id": number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        self.to_browser.write(json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == number:
                assert "error" not in message, (method, message["error"])
                return message["result"]

    def _next(self):
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.from_browser], [], [], PATIENCE)
            assert ready, "the browser says nothing: is a dialog open?"
            chunk = self.from_browser.read(1 << 16)
            assert chunk, "the browser has gone"
            self.unread += chunk
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path, *, width=1280, scheme="light"):
        """Load a file; what it said on the console before is forgotten."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setScrollbarsHidden", hidden=True)
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        loader = self.ask("Page.navigate", url=path.resolve().as_uri())["loaderId"]
        while not self._loaded(loader):
            self._next()

    def _loaded(self, loader):
        """Has this page been loaded? A busy machine may still load the empty one before it."""
        told = [event["params"] for event in self.events if event["method"] == "Page.lifecycleEvent"]
        return any((each["loaderId"], each["name"]) == (loader, "load") for each in told)

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector):
        """Press the mouse where a person would see the element."""
        box = self.run(
            f"(e => {{ e.scrollIntoView({{block: 'center', inline: 'center'}}); const b = e.getBoundingClientRect();"
            f" return [b.x + b.width / 2, b.y + b.height / 2] }})(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def complaints(self):
        """Errors, warnings, exceptions and failed requests since the page was opened."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")
        return [event for event in self.events if event["method"] in kinds]

    def requests(self):
        """Addresses that the page asked for."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self, path):
        """The whole page as PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))

    def pdf(self):
        """The page as it prints."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"])
