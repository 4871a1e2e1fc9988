/** Files that the bundle gives as addresses, to be fetched when they are wanted. */
declare module 'world-atlas/countries-110m.json' {
  const url: string
  export default url
}
declare module 'world-atlas/countries-50m.json' {
  const url: string
  export default url
}
declare module 'maplibre-gl/dist/maplibre-gl-worker.mjs'
