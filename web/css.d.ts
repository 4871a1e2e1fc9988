/** A CSS module: class names by the name in the file. */
declare module '*.module.css' {
  const classes: Record<string, string>
  export default classes
}

declare module '*.css'

/** The public URL of a worker's bundle. */
declare module '*?worker&url' {
  const url: string
  export default url
}
