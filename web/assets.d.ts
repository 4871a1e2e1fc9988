/** A CSS module: class names by the name in the file. */
declare module '*.module.css' {
  const classes: Record<string, string>
  export default classes
}

declare module '*.css'

/** The public URL of a file. */
declare module '*?url' {
  const url: string
  export default url
}
