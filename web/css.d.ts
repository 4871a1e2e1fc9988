/** A CSS module: class names by the name in the file. */
declare module '*.module.css' {
  const classes: Record<string, string>
  export default classes
}

declare module '*.css'
