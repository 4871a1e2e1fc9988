import { X } from 'lucide-react'
import {
  type FormEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { createPortal } from 'react-dom'
import { t } from '../i18n.ts'
import { IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { useLayer } from './layers.ts'
import { FOCUSABLE } from './popover.tsx'

export interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  /** Buttons at the end, the main one last. */
  footer?: ReactNode
  /** 416 px to confirm, 520 px (default), 880 px for tables and previews. */
  size?: 'confirm' | 'normal' | 'large'
  /** Makes the dialog a form: Enter in a field submits. */
  onSubmit?: () => void
  /** False where it must be answered: no cross, no Escape, no press outside. */
  closable?: boolean
  /** True where the address says that the dialog is open: navigation then closes or rebinds it by itself. */
  followsAddress?: boolean
  /** Attributes of the outermost element, by which what opened it knows it as its own. */
  marks?: Record<`data-${string}`, string>
}

/**
 * A window over the page. The page behind takes no focus or press meanwhile; Escape closes; the focus goes
 * to the element with `data-autofocus`, or the first field, and back at the end.
 */
export function Dialog({
  title,
  onClose,
  children,
  footer,
  size = 'normal',
  onSubmit,
  closable = true,
  followsAddress = false,
  marks,
}: DialogProps) {
  const box = useRef<HTMLDivElement>(null)
  const titleId = useId()
  const leave = () => closable && onClose()
  const overlay = useRef<HTMLDivElement>(null)
  useLayer(leave, { element: overlay, staysOnNavigation: followsAddress })

  // Before anything is painted: a key pressed as soon as the window is seen belongs to it.
  useLayoutEffect(() => {
    const root = document.getElementById('root')
    openDialogs++
    root?.setAttribute('inert', '')
    return () => {
      openDialogs--
      if (openDialogs === 0) root?.removeAttribute('inert')
    }
  }, [])

  useLayoutEffect(() => {
    const body = box.current
    const first =
      body?.querySelector<HTMLElement>('[data-autofocus]') ??
      body?.querySelector<HTMLElement>('input:not(:disabled), textarea, select') ??
      body?.querySelector<HTMLElement>('footer button:last-child') ??
      body
    first?.focus()
    if (first instanceof HTMLInputElement && 'selectAll' in first.dataset) first.select()
  }, [])

  function keepFocusInside(event: KeyboardEvent) {
    if (event.key !== 'Tab' || !box.current) return
    const all = [...box.current.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (one) => one.offsetParent !== null,
    )
    const edge = event.shiftKey ? all[0] : all.at(-1)
    if (document.activeElement !== edge && document.activeElement !== box.current) return
    event.preventDefault()
    ;(event.shiftKey ? all.at(-1) : all[0])?.focus()
  }

  function leaveByPress(event: MouseEvent) {
    if (event.target !== event.currentTarget) return
    // The press would take the focus to the page, after it has gone back to where it was.
    event.preventDefault()
    leave()
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    // A form inside a portal of this one bubbles through React: not ours to send.
    event.stopPropagation()
    onSubmit?.()
  }

  const content = (
    <>
      <div className={styles.header}>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        {closable && <IconButton icon={X} label={t('Close')} size="small" onClick={onClose} />}
      </div>
      <div className={styles.body}>{children}</div>
      {footer && <footer className={styles.footer}>{footer}</footer>}
    </>
  )
  return createPortal(
    // biome-ignore lint/a11y/noStaticElementInteractions: a press beside the window leaves it, as Escape does
    <div ref={overlay} {...marks} className={styles.overlay} onMouseDown={leaveByPress}>
      <div
        ref={box}
        className={styles.dialog}
        data-size={size}
        role="dialog"
        aria-modal="true"
        aria-labelledby={titleId}
        tabIndex={-1}
        onKeyDown={keepFocusInside}
      >
        {onSubmit ? (
          <form className={styles.form} onSubmit={submit} noValidate>
            {content}
          </form>
        ) : (
          content
        )}
      </div>
    </div>,
    document.body,
  )
}

let openDialogs = 0
