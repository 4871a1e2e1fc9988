import { useState } from 'react'
import { messageOf } from '../errors.ts'

/**
 * The state of a dialog that saves: one save at a time, then `onSaved`. `problem` is the message of a failed save, until
 * `setProblem` clears it.
 */
export function useSubmit(save: () => Promise<unknown>, onSaved: () => void) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  async function submit(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    try {
      await save()
      onSaved()
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return { problem, setProblem, isBusy, submit: () => void submit() }
}
