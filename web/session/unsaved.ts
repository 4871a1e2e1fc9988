import { session } from './index.ts'

/** A kind of input that reaches the server some time after the user has made it. */
interface UnsavedInput {
  /** Number of changes or files that the server does not have yet. */
  count(): number
  /** Resolves once the server has them, or when they have to wait for the connection. */
  sent(): Promise<unknown>
}

const inputs: UnsavedInput[] = []

/** Makes leaving the page and signing out ask while there is input of this kind. */
export const watchUnsaved = (input: UnsavedInput): void => void inputs.push(input)

const countUnsaved = (): number => inputs.reduce((sum, input) => sum + input.count(), 0)

/** Waits up to `maxMs` for all input to reach the server. @returns the number of changes and files that have not */
export async function sendUnsaved(maxMs: number): Promise<number> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, maxMs)
  await Promise.race([Promise.all(inputs.map((input) => input.sent())), isLate])
  clearTimeout(timer)
  return countUnsaved()
}

let question = async (): Promise<number | null> => countUnsaved()

/** Sets how the user is asked before the session ends: the number of changes that are lost with it, or null for no. */
export const askBeforeSignOut = (ask: () => Promise<number | null>): void => {
  question = ask
}

/** Asks whether the session may end, if that loses input; see `askBeforeSignOut`. */
export const mayLoseUnsaved = (): Promise<number | null> => question()

let isGivenUp = false

/** Call when the user has agreed to lose the input: leaving the page no longer asks. */
export const giveUpUnsaved = (): void => {
  isGivenUp = true
}

/** True if this page has input that may no longer be sent; the next person to sign in needs a new one. */
export const isUnsavedGivenUp = (): boolean => isGivenUp

// Makes the browser ask before it discards input. That of the person before can no longer be sent.
window.addEventListener('beforeunload', (event) => {
  if (countUnsaved() > 0 && !isGivenUp && session.status() !== 'replaced') event.preventDefault()
})
