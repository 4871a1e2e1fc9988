// biome-ignore-all lint/correctness/noComponentHookFactories: made once per type, when the module loads
import { ExternalLink, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { type Cell, defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'
import styles from './view.module.css'

const OPEN = <ExternalLink size={13} aria-hidden />

interface LinkCell<O> {
  type: FieldType<O>
  Icon: LucideIcon
  inputMode: 'email' | 'url' | 'tel'
  toHref: (text: string) => string | null
  /** What is wrong with a text that the field refuses. */
  refusal: () => string
}

/** What addresses have in common: text that opens with Ctrl+click or its icon, and is edited as text. */
export function linkCell<O>({ type, Icon, inputMode, toHref, refusal }: LinkCell<O>): Cell<O> {
  const href = (value: CellValue) => (typeof value === 'string' ? toHref(value) : null)
  return defineCell<O>(type, {
    Icon,
    align: 'start',
    minWidth: 80,
    extraWidth: 20,
    href,
    View: ({ value }) => <LinkText value={value} address={href(value)} />,
    Editor: (props) => (
      <TextInput
        {...props}
        initial={String(props.value ?? '')}
        inputMode={inputMode}
        parse={(text) => draftOf(text, type.parse(text, props.options), refusal())}
      />
    ),
  })
}

/** The text, as a link where there is an address to open. */
export function LinkText({ value, address }: { value: CellValue; address: string | null }): ReactNode {
  if (value === null || value === '') return null
  if (!address) {
    return (
      <span className={styles.line} dir="auto">
        {String(value)}
      </span>
    )
  }
  return (
    <>
      <a
        className={styles.link}
        href={address}
        target="_blank"
        rel="noopener noreferrer"
        tabIndex={-1}
        dir="auto"
        draggable={false}
        // A plain click selects the cell; only with Ctrl or Cmd is it meant for the link.
        onClick={(event) => {
          if (!event.ctrlKey && !event.metaKey) event.preventDefault()
        }}
      >
        {String(value)}
      </a>
      <a
        className={styles.openLink}
        href={address}
        target="_blank"
        rel="noopener noreferrer"
        tabIndex={-1}
        data-interactive
        aria-label={m.cells_open_link({ link: String(value) })}
        title={m.cells_open_ctrl_click()}
      >
        {OPEN}
      </a>
    </>
  )
}
