import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { KeyRound, Link2 } from 'lucide-react'
import { createContext, use } from 'react'
import { m } from '../../messages.gen.ts'
import styles from './erd-view.module.css'
import { HEAD_HEIGHT, ROW_HEIGHT } from './layout.ts'
import { moreFields } from './picture.ts'
import type { ShownTable } from './shown-diagram.ts'

/** What the drawing library is given of a box. */
export type TableNode = Node<{ table: ShownTable; showTypes: boolean; isFound: boolean }, 'table'>

/** Opens a table from its box; a context, because the drawing library makes the boxes. */
export const OpenTable = createContext<((tableId: string) => void) | undefined>(undefined)

/** Lists all fields of a box, or the first of them again. */
export const Fold = createContext<(tableId: string) => void>(() => {})

/** A table: its name, and its fields with keys marked. A double click or Enter opens it. */
export function TableBox({ data: { table, showTypes, isFound } }: NodeProps<TableNode>) {
  const open = use(OpenTable)
  const fold = use(Fold)
  return (
    <div
      className={styles.box}
      data-found={isFound || undefined}
      data-junction={table.isJunction || undefined}
    >
      {/* The library draws lines between these only; ours leave from the rows. */}
      <Handle type="source" position={Position.Right} className={styles.handle} isConnectable={false} />
      <Handle type="target" position={Position.Left} className={styles.handle} isConnectable={false} />
      <h2 className={styles.head} style={{ blockSize: HEAD_HEIGHT }}>
        <span className={styles.name} dir="auto" title={table.title}>
          {table.title}
        </span>
        {open && !table.isJunction && (
          <button type="button" className={styles.open} onClick={() => open(table.id)}>
            {m.common_open()}
          </button>
        )}
      </h2>
      {table.fields.map((field) => (
        <div
          key={field.id}
          className={styles.row}
          style={{ blockSize: ROW_HEIGHT }}
          data-key={field.isPrimaryKey || undefined}
        >
          {field.isPrimaryKey && <KeyRound size={12} aria-label={m.erd_primary_key()} />}
          {field.isForeignKey && <Link2 size={12} aria-label={m.erd_foreign_key()} />}
          <span
            className={styles.field}
            dir="auto"
            title={field.title}
            data-display={field.isDisplay || undefined}
          >
            {field.title}
          </span>
          {showTypes && <span className={styles.type}>{field.type}</span>}
        </div>
      ))}
      {table.isFoldable && (
        <button
          type="button"
          className={styles.fold}
          style={{ blockSize: ROW_HEIGHT }}
          aria-expanded={table.folded.length === 0}
          onClick={() => fold(table.id)}
        >
          {table.folded.length > 0 ? moreFields(table) : m.erd_show_fewer()}
        </button>
      )}
    </div>
  )
}
