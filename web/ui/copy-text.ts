import { m } from '../messages.gen.ts'
import { toast } from './toast.ts'

/** Copies text to the clipboard; resolves false, after showing a message, if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // The clipboard API requires https or localhost, which servers on the local network may lack.
    if (navigator.clipboard) await navigator.clipboard.writeText(text)
    else copyBySelection(text)
    return true
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    toast.error({ text: m.ui_browser_blocked_copying_copy_manually({ text }) })
    return false
  }
}

function copyBySelection(text: string): void {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  document.body.append(area)
  const before = document.activeElement
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!done) throw new DOMException('copy was refused', 'NotAllowedError')
}
