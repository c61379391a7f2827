// The search of the theme runs in a Worker, which browsers refuse to pages that are opened from a disk. There, and only
// there, this runs the same script in a hidden frame.
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            const inside = frame.contentWindow;
            inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
            const script = frame.contentDocument.createElement("script");
            script.src = url;
            this.loaded = new Promise((done) => script.addEventListener("load", done));
            frame.contentDocument.body.append(script);
            this.inside = inside;
        }

        postMessage(data) {
            this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
        }
    };
}
