import { createStore } from 'zustand/vanilla'

/** A message at the top of the page that closes itself. */
interface ToastMessage {
  text: string
  /** An action such as `{ label: m.common_undo(), run }`; the toast then stays longer. */
  action?: { label: string; run: () => void | Promise<void> }
  /** Replaces an earlier message of the same topic: ten undos show one toast. */
  topic?: string
}

export interface ShownToast extends ToastMessage {
  id: number
  tone: ToastTone
}

/** `info` and `success` report, `warning` asks for attention, `error` reports a failure, `news` is a notification. */
export type ToastTone = 'info' | 'success' | 'warning' | 'error' | 'news'

/** Display time: 3 s for reports, 4.5 s for notifications, warnings and errors (spec §9), longer with an action. */
export const TOAST_MS = 3000
export const TOAST_WARNING_MS = 4500
export const TOAST_WITH_ACTION_MS = 8000

let nextId = 1

/** The messages on the screen, oldest first. */
export const shownToasts = createStore<readonly ShownToast[]>(() => [])

/** Removes a message from the screen. */
export function dismissToast(id: number): void {
  shownToasts.setState((shown) => shown.filter((one) => one.id !== id), true)
}

/** Shows messages, e.g. `toast.success({ text, action: { label: m.common_undo(), run } })`. */
export const toast = {
  info: (message: ToastMessage): void => show('info', message),
  success: (message: ToastMessage): void => show('success', message),
  /** For actions that are impossible or were not saved. */
  warning: (message: ToastMessage): void => show('warning', message),
  error: (message: ToastMessage): void => show('error', message),
  /** Something that others did; its action does not keep it longer. */
  news: (message: ToastMessage): void => show('news', message),
}

function show(tone: ShownToast['tone'], message: ToastMessage): void {
  // Drops duplicates; at most three are shown at once.
  const { text, topic } = message
  const others = shownToasts
    .getState()
    .filter((one) => one.text !== text && (topic === undefined || one.topic !== topic))
  shownToasts.setState([...others.slice(-2), { ...message, tone, id: nextId++ }], true)
}
