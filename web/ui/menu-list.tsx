import { MenuItem as AriakitItem, Menu, useMenuStore } from '@ariakit/react'
import { Check, Copy } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, type Ref, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { m } from '../messages.gen.ts'
import { copyText } from './copy-text.ts'
import { useLayer } from './layers.ts'
import styles from './menu.module.css'
import { POPOVER_GAP_PX, useAnchor } from './popover.tsx'

/** One line of a menu. */
export type MenuItem =
  | { kind: 'separator' }
  /** Heading of the lines below it. */
  | { kind: 'heading'; label: string }
  /** An id with a copy button, at the top of each context menu: API users rely on it. */
  | { kind: 'id'; label: string; value: string }
  | MenuAction

interface MenuAction {
  kind: 'action'
  label: string
  /** Short explanation below the label. */
  hint?: string
  icon?: ComponentType<{ size?: number | string }>
  /** As returned by `shortcutLabel`, e.g. `⌘K`. */
  shortcut?: string
  tone?: 'danger'
  /** Set for items of a single choice; true shows a check mark. */
  checked?: boolean
  /** An independent on/off item instead of one of several choices. */
  toggles?: true
  /** Why the item is disabled; shown below the label. */
  disabledReason?: string | null
  run: () => void
}

export interface OpenMenu {
  items: MenuItem[]
  /** An element, or a point in the window. */
  anchor: Element | { x: number; y: number }
  label: string
}

interface MenuListProps extends OpenMenu {
  onClose: () => void
}

/** The open menu. Ariakit navigates its items by arrows, Home, End and typed letters. */
export function MenuList({ items, anchor, label, onClose }: MenuListProps) {
  const box = useRef<HTMLDivElement>(null)
  const firstAction = useRef<HTMLButtonElement>(null)
  const isPressOutside = useLayer(onClose, {
    element: box,
    returnFocusTo: () => (anchor instanceof HTMLElement ? anchor : null),
  })
  const store = useMenuStore({
    open: true,
    setOpen: (isOpen) => !isOpen && onClose(),
    placement: 'bottom-start',
  })
  const anchorRect = useAnchor(store, anchor)

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Tab') {
      event.preventDefault()
      onClose()
    }
    // Escape bubbles to `useLayer`; other keys must not affect the page below.
    if (event.key !== 'Escape') event.stopPropagation()
  }

  const first = items.findIndex((item) => item.kind === 'action')
  return createPortal(
    <Menu
      store={store}
      ref={box}
      aria-label={label}
      className={styles.menu}
      fixed
      gutter={POPOVER_GAP_PX}
      fitViewport
      getAnchorRect={anchorRect}
      // Focuses the first action, not the id above it, which is reachable by pointer and ArrowUp.
      initialFocus={firstAction}
      hideOnEscape={false}
      autoFocusOnHide={false}
      hideOnInteractOutside={isPressOutside}
      onKeyDown={onKeyDown}
    >
      {items.map((item, index) => {
        const key = item.kind === 'separator' ? `separator ${index}` : `${item.kind} ${item.label} ${index}`
        if (item.kind === 'separator') return <hr key={key} className={styles.separator} />
        if (item.kind === 'heading') {
          return (
            <p key={key} className={styles.heading}>
              {item.label}
            </p>
          )
        }
        if (item.kind === 'id') return <IdLine key={key} label={item.label} value={item.value} />
        return (
          <ActionLine
            key={key}
            ref={index === first ? firstAction : undefined}
            item={item}
            onClose={onClose}
          />
        )
      })}
    </Menu>,
    document.body,
  )
}

interface ActionLineProps {
  item: MenuAction
  ref: Ref<HTMLButtonElement> | undefined
  onClose: () => void
}

function ActionLine({ item, ref, onClose }: ActionLineProps) {
  const Icon = item.icon
  const choiceRole = item.toggles ? 'menuitemcheckbox' : 'menuitemradio'
  return (
    <AriakitItem
      render={<button type="button" ref={ref} />}
      role={item.checked === undefined ? 'menuitem' : choiceRole}
      aria-checked={item.checked}
      disabled={Boolean(item.disabledReason)}
      accessibleWhenDisabled
      data-kind="action"
      data-tone={item.tone}
      className={styles.line}
      hideOnClick={false}
      onClick={() => {
        if (item.disabledReason) return
        onClose()
        // Runs after the menu has returned the focus, so that a dialog opened now returns it to the same element.
        setTimeout(item.run)
      }}
    >
      <span className={styles.icon}>{Icon && <Icon size={15} />}</span>
      <span className={styles.label}>
        {item.label}
        {(item.disabledReason || item.hint) && (
          <small className={styles.reason}>{item.disabledReason || item.hint}</small>
        )}
      </span>
      {item.checked && <Check size={15} />}
      {item.shortcut && <kbd>{item.shortcut}</kbd>}
    </AriakitItem>
  )
}

function IdLine({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <AriakitItem
      render={<button type="button" />}
      className={`${styles.line} ${styles.id}`}
      aria-label={m.ui_copy_label_value({ label, value })}
      hideOnClick={false}
      onClick={async () => {
        if (!(await copyText(value))) return
        setCopied(true)
        setTimeout(() => setCopied(false), 1500) // spec §9, clipboard copied flag
      }}
    >
      <span className={styles.label}>
        {label}: <code>{value}</code>
      </span>
      {isCopied ? <Check size={14} /> : <Copy size={14} />}
    </AriakitItem>
  )
}
