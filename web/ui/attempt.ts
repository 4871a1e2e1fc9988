import { messageOf } from '../errors.ts'
import { toast } from './toast.ts'

/** Shows why something failed, as a message at the top of the page. */
export const showError = (error: unknown): void => toast.error({ text: messageOf(error) })

/** Runs a command and shows its failure as a message. @returns whether it succeeded */
export async function attempt(command: () => Promise<unknown>): Promise<boolean> {
  try {
    await command()
    return true
  } catch (error) {
    showError(error)
    return false
  }
}
