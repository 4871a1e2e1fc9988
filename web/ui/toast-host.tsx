import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { t } from '../i18n.ts'
import styles from './toast.module.css'
import { type ShownToast, TOAST_MS, TOAST_WITH_ACTION_MS, toasts } from './toast.ts'

/** Draws the messages; once, at the root of the app. */
export function ToastHost() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.current)
  return createPortal(
    <section className={styles.host} aria-label={t('Messages')} aria-live="polite">
      {shown.map((one) => (
        <Toast key={one.id} toast={one} />
      ))}
    </section>,
    document.body,
  )
}

function Toast({ toast }: { toast: ShownToast }) {
  // Stays while the pointer or the focus is on it: it may be the way back.
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => toasts.dismiss(toast.id), toast.action ? TOAST_WITH_ACTION_MS : TOAST_MS)
    return () => clearTimeout(timer)
  }, [held, toast])

  const box = useRef<HTMLDivElement>(null)
  const before = useRef<Element | null>(null)
  const dismiss = () => {
    // What is pressed goes with the message: the focus returns to where it was.
    const { current: target } = before
    if (box.current?.contains(document.activeElement) && target instanceof HTMLElement)
      target.focus({ preventScroll: true })
    toasts.dismiss(toast.id)
  }
  const { action } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: to hold it is a courtesy to the pointer
    <div
      ref={box}
      className={styles.toast}
      data-tone={toast.tone}
      role={toast.tone === 'error' ? 'alert' : 'status'}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget
        setHeld(true)
      }}
      onBlur={() => setHeld(false)}
    >
      {toast.tone === 'error' ? <CircleAlert size={16} /> : <CircleCheck size={16} />}
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
      <button type="button" className={styles.close} aria-label={t('Close message')} onClick={dismiss}>
        <X size={14} />
      </button>
    </div>
  )
}
