import { messageOf } from '../errors.ts'
import { toast } from './toast.ts'

/** Shows an error in a toast. */
export const showError = (error: unknown): void => toast.error({ text: messageOf(error) })

/** Runs a command and shows an error in a toast. @returns true if it succeeded */
export async function attempt(command: () => Promise<unknown>): Promise<boolean> {
  try {
    await command()
    return true
  } catch (error) {
    showError(error)
    return false
  }
}
