/** One variable of the environment. */
export interface Variable<T> {
  /** Other names it is read from, for people who move over with an existing environment. */
  aliases?: string[]
  default: string
  help: string
  read(text: string, name: string): T
}

/** Says of a definition what its values are. */
export function variable<T>(definition: Variable<T> & { name: string }) {
  return definition
}
