import { Dialog as AriakitDialog } from '@ariakit/react'
import { X } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useRef } from 'react'
import { createPortal } from 'react-dom'
import { m } from '../messages.gen.ts'
import { IconButton } from './button.tsx'
import styles from './dialog.module.css'
import { useLayer } from './layers.ts'

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  /** Buttons at the end, the main one last. */
  footer?: ReactNode
  /** 416 px to confirm, 520 px (default), 880 px for tables and previews. */
  size?: 'confirm' | 'normal' | 'large'
  /** Makes the dialog a form: Enter in a field submits. */
  onSubmit?: () => void
  /** False if the user must answer: no close button, and Escape and clicks outside have no effect. */
  closable?: boolean
  /** False if clicks outside have no effect, because they would discard much input. */
  closesOutside?: boolean
  /** True if the URL controls the dialog: navigation then closes or rebinds it. */
  followsAddress?: boolean
  /** Data attributes of the outermost element, by which its opener recognizes it. */
  marks?: Record<`data-${string}`, string>
}

/** A modal dialog. Escape closes it; the focus goes to `data-autofocus` or the first field, and back when it closes. */
export function Dialog({
  title,
  onClose,
  children,
  footer,
  size = 'normal',
  onSubmit,
  closable = true,
  closesOutside = true,
  followsAddress = false,
  marks,
}: DialogProps) {
  const box = useRef<HTMLDivElement>(null)
  const overlay = useRef<HTMLDivElement>(null)
  const titleId = useId()
  const leave = () => closable && onClose()
  const isPressOutside = useLayer(leave, { element: overlay, staysOnNavigation: followsAddress })

  function submit(event: FormEvent) {
    event.preventDefault()
    // React bubbles submit events of forms in nested portals to this one, which must ignore them.
    event.stopPropagation()
    onSubmit?.()
  }

  const content = (
    <>
      {/* Marked as a way to close, as Ariakit would otherwise add a hidden button of its own. */}
      <div className={styles.header} data-dialog-dismiss>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        {closable && <IconButton icon={X} label={m.common_close()} size="small" onClick={onClose} />}
      </div>
      <div className={styles.body}>{children}</div>
      {footer && <footer className={styles.footer}>{footer}</footer>}
    </>
  )
  return createPortal(
    <div ref={overlay} {...marks} className={styles.overlay}>
      <AriakitDialog
        open
        ref={box}
        className={styles.dialog}
        data-size={size}
        aria-modal="true"
        aria-labelledby={titleId}
        onClose={(event) => {
          event.preventDefault()
          leave()
        }}
        portal={false}
        backdrop={false}
        preventBodyScroll={false}
        getPersistentElements={() => document.querySelectorAll('[data-toasts]')}
        // `useLayer` handles Escape and the focus for all kinds of layers.
        hideOnEscape={false}
        autoFocusOnHide={false}
        hideOnInteractOutside={closesOutside && isPressOutside}
        autoFocusOnShow={() => {
          if (!box.current?.contains(document.activeElement)) focusFirst(box.current)
          return false
        }}
      >
        {onSubmit ? (
          <form className={styles.form} onSubmit={submit} noValidate>
            {content}
          </form>
        ) : (
          content
        )}
      </AriakitDialog>
    </div>,
    document.body,
  )
}

function focusFirst(box: HTMLElement | null): void {
  const first =
    box?.querySelector<HTMLElement>('[data-autofocus]') ??
    box?.querySelector<HTMLElement>('input:not(:disabled), textarea, select') ??
    box?.querySelector<HTMLElement>('footer button:last-child') ??
    box
  first?.focus()
  if (first instanceof HTMLInputElement && 'selectAll' in first.dataset) first.select()
}
