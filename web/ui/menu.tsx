import { Check, Copy } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { t } from '../i18n.ts'
import { copyText } from './copy-text.ts'
import styles from './menu.module.css'
import { Popover } from './popover.tsx'

/** One line of a menu. */
export type MenuItem =
  | { kind: 'separator' }
  /** Names the lines below it. */
  | { kind: 'heading'; label: string }
  /** An id with a copy button, at the top of each context menu: API users rely on it. */
  | { kind: 'id'; label: string; value: string }
  | {
      kind: 'action'
      label: string
      /** A few words below the label: what it is for. */
      hint?: string
      icon?: ComponentType<{ size?: number | string }>
      /** As shown by `shortcutLabel`, e.g. `⌘K`. */
      shortcut?: string
      tone?: 'danger'
      /** Set where one of several is chosen; true shows the tick. */
      checked?: boolean
      /** Something that is on or off by itself, instead of one of several. */
      toggles?: true
      /** Why it cannot be done now; the line is shown and says so. */
      disabledReason?: string | null
      run: () => void
    }

interface OpenMenu {
  items: MenuItem[]
  anchor: Element | { x: number; y: number }
  label: string
}

const openedMenu = createStore<OpenMenu | null>(() => null)

/** Opens a menu below an element or at a point. One is open at a time; the same anchor again closes it. */
export function openMenu(anchor: OpenMenu['anchor'], items: MenuItem[], label: string): void {
  const isOpen = openedMenu.getState()?.anchor === anchor
  openedMenu.setState(isOpen ? null : { items: withoutLooseSeparators(items), anchor, label }, true)
}

/** Opens a context menu for a right click, the menu key or Shift+F10. */
export function openContextMenu(
  event: {
    preventDefault(): void
    stopPropagation(): void
    clientX: number
    clientY: number
    target: EventTarget
  },
  items: MenuItem[],
  label: string,
): void {
  event.preventDefault()
  event.stopPropagation()
  // The keyboard gives no point in some browsers: the menu stands at the element then.
  const element =
    event.clientX === 0 && event.clientY === 0 && event.target instanceof Element ? event.target : null
  openMenu(element ?? { x: event.clientX, y: event.clientY }, items, label)
}

/** Draws the open menu; once, at the root of the app. */
export function MenuHost() {
  const menu = useStore(openedMenu)
  return (
    menu && (
      <Menu key={menu.items.length + menu.label} {...menu} onClose={() => openedMenu.setState(null, true)} />
    )
  )
}

function Menu({ items, anchor, label, onClose }: OpenMenu & { onClose: () => void }) {
  const list = useRef<HTMLDivElement>(null)
  const typed = useRef({ text: '', at: 0 })
  const lines = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]

  useLayoutEffect(() => {
    // Straight to the first action: the id above it is for the pointer and for ArrowUp.
    list.current?.querySelector<HTMLElement>('[data-kind="action"]')?.focus({ preventScroll: true })
  }, [])

  function onKeyDown(event: KeyboardEvent) {
    const all = lines()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const goTo = (index: number) => {
      event.preventDefault()
      all[(index + all.length) % all.length]?.focus()
    }
    if (event.key === 'ArrowDown') goTo(at + 1)
    else if (event.key === 'ArrowUp') goTo(at === -1 ? -1 : at - 1)
    else if (event.key === 'Home') goTo(0)
    else if (event.key === 'End') goTo(-1)
    else if (event.key === 'Tab') {
      event.preventDefault()
      onClose()
    } else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey) {
      const text = event.timeStamp - typed.current.at < 700 ? typed.current.text + event.key : event.key
      typed.current = { text, at: event.timeStamp }
      const found = all.findIndex((line) => line.textContent?.toLowerCase().startsWith(text.toLowerCase()))
      if (found >= 0) goTo(found)
    }
    // Escape goes on to the layers.
    if (event.key !== 'Escape') event.stopPropagation()
  }

  return (
    <Popover anchor={anchor} onClose={onClose} focus="none" className={styles.menu}>
      <div ref={list} role="menu" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an open menu do not move
          <MenuLine key={index} item={item} onClose={onClose} />
        ))}
      </div>
    </Popover>
  )
}

function MenuLine({ item, onClose }: { item: MenuItem; onClose: () => void }) {
  if (item.kind === 'separator') return <hr className={styles.separator} />
  if (item.kind === 'heading') return <p className={styles.heading}>{item.label}</p>
  if (item.kind === 'id') return <IdLine label={item.label} value={item.value} />
  const Icon = item.icon
  const isChoice = item.checked !== undefined
  const choiceRole = item.toggles ? 'menuitemcheckbox' : 'menuitemradio'
  return (
    <button
      type="button"
      {...(isChoice ? { role: choiceRole, 'aria-checked': item.checked } : { role: 'menuitem' })}
      aria-disabled={item.disabledReason ? true : undefined}
      data-kind="action"
      data-tone={item.tone}
      tabIndex={-1}
      className={styles.line}
      onPointerEnter={(event) => event.currentTarget.focus({ preventScroll: true })}
      onClick={() => {
        if (item.disabledReason) return
        onClose()
        // After the menu has given the focus back, so that what opens now returns it to the same place.
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
    </button>
  )
}

function IdLine({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={`${styles.line} ${styles.id}`}
      aria-label={t('Copy {label} {value}', { label, value })}
      onClick={async () => {
        if (!(await copyText(value))) return
        setCopied(true)
        setTimeout(() => setCopied(false), 1500) // spec §9, clipboard copied flag
      }}
    >
      <span className={styles.label}>
        {label}: <code>{value}</code>
      </span>
      {copied ? <Check size={14} /> : <Copy size={14} />}
    </button>
  )
}

function withoutLooseSeparators(items: MenuItem[]): MenuItem[] {
  return items.filter((item, index) => {
    if (item.kind !== 'separator') return true
    const next = items[index + 1]
    return index > 0 && next !== undefined && next.kind !== 'separator'
  })
}
