import { ChevronRight, Plus, Trash2 } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import {
  type JsonEntry,
  type JsonNode,
  parseJsonTree,
  scalarOf,
  typedOf,
  writeJsonTree,
} from '../../src/core/fields/json-tree.ts'
import { m } from '../messages.gen.ts'
import { Group } from '../ui/composite.tsx'
import { keyed } from '../ui/keyed.ts'
import styles from './json-editor.module.css'

/** Maximum number of entries drawn per object or list. */
const MAX_DRAWN = 200
/** Levels expanded initially. */
const OPEN_LEVELS = 2

interface JsonTreeProps {
  /** JSON, or nothing. */
  text: string
  onChange(text: string): void
  label: string
}

/** JSON as a foldable tree: keys and values are edited in place, added and removed. */
export function JsonTree({ text, onChange, label }: JsonTreeProps): ReactNode {
  const root = parseJsonTree(text) ?? { kind: 'object', entries: [] }
  return (
    <div className={styles.tree} role="tree" aria-label={label} dir="ltr">
      <Node node={root} name={null} level={0} onChange={(node) => onChange(writeJsonTree(node))} />
    </div>
  )
}

interface NodeProps {
  node: JsonNode
  /** Shown before the value: an editable key, a list index, or null at the root. */
  name: ReactNode
  level: number
  onChange(node: JsonNode): void
  onRemove?: () => void
}

function Node({ node, name, level, onChange, onRemove }: NodeProps): ReactNode {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  const remove = onRemove && (
    <button type="button" className={styles.tool} aria-label={m.common_remove()} onClick={onRemove}>
      <Trash2 size={13} aria-hidden />
    </button>
  )
  if (node.kind === 'scalar') {
    return (
      <div className={styles.line} role="treeitem" aria-level={level + 1} aria-selected={false} tabIndex={-1}>
        <span className={styles.leaf} />
        {name}
        <Scalar raw={node.raw} onChange={onChange} />
        {remove}
      </div>
    )
  }
  const size = node.kind === 'array' ? node.items.length : node.entries.length
  return (
    <div role="treeitem" aria-expanded={isOpen} aria-level={level + 1} aria-selected={false} tabIndex={-1}>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isOpen}
          aria-label={isOpen ? m.cells_collapse() : m.cells_expand()}
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight size={13} aria-hidden />
        </button>
        {name}
        <span className={styles.size}>{node.kind === 'array' ? `[${size}]` : `{${size}}`}</span>
        <button
          type="button"
          className={styles.tool}
          aria-label={node.kind === 'array' ? m.cells_add_item() : m.cells_add_key()}
          onClick={() => {
            setOpen(true)
            onChange(withOneMore(node))
          }}
        >
          <Plus size={13} aria-hidden />
        </button>
        {remove}
      </div>
      {isOpen && (
        <Group className={styles.children}>
          {node.kind === 'array' ? (
            <Items
              items={node.items}
              level={level}
              onChange={(items) => onChange({ kind: 'array', items })}
            />
          ) : (
            <Entries
              entries={node.entries}
              level={level}
              onChange={(entries) => onChange({ kind: 'object', entries })}
            />
          )}
          {size > MAX_DRAWN && (
            <p className={styles.size}>{m.cells_more_in_the_text({ count: size - MAX_DRAWN })}</p>
          )}
        </Group>
      )}
    </div>
  )
}

/*
 * Keyed by position, so that an item keeps its input while its value or key changes, even if it equals
 * another.
 */

function Items(props: { items: JsonNode[]; level: number; onChange(items: JsonNode[]): void }): ReactNode {
  const { items, level, onChange } = props
  return keyed(items.slice(0, MAX_DRAWN), () => '').map(({ key, item, at }) => (
    <Node
      key={key}
      node={item}
      name={<span className={styles.index}>{at}:</span>}
      level={level + 1}
      onChange={(next) => onChange(items.with(at, next))}
      onRemove={() => onChange(items.toSpliced(at, 1))}
    />
  ))
}

function Entries(props: {
  entries: JsonEntry[]
  level: number
  onChange(entries: JsonEntry[]): void
}): ReactNode {
  const { entries, level, onChange } = props
  return keyed(entries.slice(0, MAX_DRAWN), () => '').map(({ key, item: entry, at }) => (
    <Node
      key={key}
      node={entry.node}
      name={<Key value={entry.key} onChange={(key) => onChange(entries.with(at, { ...entry, key }))} />}
      level={level + 1}
      onChange={(node) => onChange(entries.with(at, { ...entry, node }))}
      onRemove={() => onChange(entries.toSpliced(at, 1))}
    />
  ))
}

function Key({ value, onChange }: { value: string; onChange(key: string): void }): ReactNode {
  return (
    <>
      <LeaveInput className={styles.key} label={m.cells_key()} value={value} onChange={onChange} />:
    </>
  )
}

function Scalar({ raw, onChange }: { raw: string; onChange(node: JsonNode): void }): ReactNode {
  const kind = raw.startsWith('"') ? 'text' : /^[-\d]/.test(raw) ? 'number' : 'word'
  return (
    <LeaveInput
      className={styles.scalar}
      kind={kind}
      label={m.cells_value()}
      value={typedOf(raw)}
      onChange={(typed) => onChange(scalarOf(typed))}
    />
  )
}

interface LeaveInputProps {
  className: string | undefined
  kind?: string
  label: string
  value: string
  onChange(text: string): void
}

/** An input that commits on blur or Enter, because a half-typed value is often invalid JSON. */
function LeaveInput({ className, kind, label, value, onChange }: LeaveInputProps): ReactNode {
  const [text, setText] = useState(value)
  const [told, setTold] = useState(value)
  if (told !== value) {
    setTold(value)
    setText(value)
  }
  const tell = () => {
    if (text !== value) onChange(text)
  }
  return (
    <input
      className={className}
      data-kind={kind}
      aria-label={label}
      spellCheck={false}
      autoComplete="off"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={tell}
      onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
        if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) {
          // Ctrl+Enter saves the cell, including this input.
          if (event.key === 'Enter') tell()
          return
        }
        event.preventDefault()
        tell()
      }}
    />
  )
}

/** Appends a key to an object or an item to a list. */
function withOneMore(node: Exclude<JsonNode, { kind: 'scalar' }>): JsonNode {
  const fresh: JsonNode = { kind: 'scalar', raw: 'null' }
  if (node.kind === 'array') return { kind: 'array', items: [...node.items, fresh] }
  const taken = new Set(node.entries.map(({ key }) => key))
  let key = 'key'
  for (let n = 2; taken.has(key); n++) key = `key${n}`
  return { kind: 'object', entries: [...node.entries, { key, node: fresh }] }
}
