import { Bell, CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useStore } from 'zustand'
import { m } from '../messages.gen.ts'
import { ControlGroup } from './composite.tsx'
import styles from './toast.module.css'
import {
  dismissToast,
  type ShownToast,
  shownToasts,
  TOAST_MS,
  TOAST_WARNING_MS,
  TOAST_WITH_ACTION_MS,
  type ToastTone,
} from './toast.ts'

const ICONS = {
  info: Info,
  success: CircleCheck,
  warning: TriangleAlert,
  error: CircleAlert,
  news: Bell,
} satisfies Record<ToastTone, unknown>

const durationOf = ({ action, tone }: ShownToast): number => {
  if (tone === 'news') return TOAST_WARNING_MS
  if (action) return TOAST_WITH_ACTION_MS
  return tone === 'warning' || tone === 'error' ? TOAST_WARNING_MS : TOAST_MS
}

/** Renders the toasts; mounted once, at the root of the app. */
export function ToastHost() {
  const shown = useStore(shownToasts)
  return createPortal(
    <section data-toasts className={styles.host} aria-label={m.ui_notifications()} aria-live="polite">
      {shown.map((one) => (
        <Toast key={one.id} toast={one} />
      ))}
    </section>,
    document.body,
  )
}

function Toast({ toast }: { toast: ShownToast }) {
  // Stays while hovered or focused, because it may offer Undo.
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => dismissToast(toast.id), durationOf(toast))
    return () => clearTimeout(timer)
  }, [held, toast])

  const box = useRef<HTMLDivElement>(null)
  const before = useRef<Element | null>(null)
  const dismiss = () => {
    // The pressed button disappears with the toast: return the focus.
    const { current: target } = before
    if (box.current?.contains(document.activeElement) && target instanceof HTMLElement)
      target.focus({ preventScroll: true })
    dismissToast(toast.id)
  }
  const { action } = toast
  const Icon = ICONS[toast.tone]
  return (
    <ControlGroup
      ref={box}
      className={styles.toast}
      data-tone={toast.tone}
      role={toast.tone === 'error' || toast.tone === 'warning' ? 'alert' : 'status'}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget
        setHeld(true)
      }}
      onBlur={() => setHeld(false)}
    >
      <Icon size={16} />
      <span className={styles.text} dir="auto">
        {toast.text}
      </span>
      {action && (
        <button
          type="button"
          className={styles.action}
          onClick={() => {
            dismiss()
            void action.run()
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" className={styles.close} aria-label={m.ui_dismiss()} onClick={dismiss}>
        <X size={14} />
      </button>
    </ControlGroup>
  )
}
