import { Table2 } from 'lucide-react'
import type { Table } from '../../../../src/core/model.ts'

/**
 * The emoji or symbol of a table or view; null if unset. Other clients store icon names such as `ph:star` there, which
 * are ignored.
 */
export function readIcon({ icon }: Record<string, unknown>): string | null {
  if (typeof icon !== 'string' || /^[\x20-\x7e]*$/.test(icon)) return null
  for (const { segment } of new Intl.Segmenter().segment(icon.trim())) return segment
  return null
}

/** An emoji or symbol at the size of an icon. */
export function ChosenIcon({ text, size }: { text: string; size: number }) {
  return (
    <span
      aria-hidden
      style={{
        display: 'inline-flex',
        flex: 'none',
        justifyContent: 'center',
        inlineSize: size,
        lineHeight: 1,
        fontSize: size - 1,
      }}
    >
      {text}
    </span>
  )
}

/** The icon of a table: its own or the default. */
export function TableIcon({ table, size = 15 }: { table: Pick<Table, 'meta'>; size?: number }) {
  const chosen = readIcon(table.meta)
  return chosen === null ? <Table2 size={size} aria-hidden /> : <ChosenIcon text={chosen} size={size} />
}
