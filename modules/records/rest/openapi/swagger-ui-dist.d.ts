/** Files that are served as they are; importing one `with { type: 'file' }` gives its path, also in the executable. */
declare module 'swagger-ui-dist/*.css' {
  const path: string
  export default path
}
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}
declare module '*/start.client.js' {
  const path: string
  export default path
}
