// The part of MapLibre that prepares what is drawn. Built by itself: the page may load workers from here alone.
// Awaited, because the package declares that importing it has no effect, and a bundler takes that at its word.
await import('maplibre-gl/dist/maplibre-gl-worker.mjs')

export {}
