import { useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { RecordId } from '../../../src/core/model.ts'
import type { Presence } from '../../../src/core/presence.ts'
import { m } from '../../messages.gen.ts'
import { Avatar, colorOf } from '../../ui/avatar.tsx'
import styles from './others-at.module.css'
import { otherCells, others, ownPosition } from './presence-state.ts'

/** Names the person who is editing a field of the open record. */
export function FieldEditor({ recordId, fieldId }: { recordId: RecordId; fieldId: string }) {
  const editor = useStore(otherCells).find(
    (cell) => cell.isEditing && cell.recordId === recordId && cell.fieldId === fieldId,
  )
  return (
    <span role="status">
      {editor && (
        <span className={styles.tag} style={{ background: editor.color }} dir="auto">
          {m.presence_is_editing({ name: editor.name })}
        </span>
      )}
    </span>
  )
}

/** Marks a card or an event of the open table whose record another person has open or selected; only its own changes render it. */
export function RecordMark({ recordId, isSmall = false }: { recordId: RecordId; isSmall?: boolean }) {
  const person = useSyncExternalStore(others.subscribe, () => personAt(recordId))
  if (!person) return null
  const { userId, name, isEditing } = person
  const text = isEditing ? m.presence_is_editing({ name }) : m.presence_is_here({ name })
  if (isSmall) {
    return (
      <span className={styles.small} data-testid="record-mark" data-tip={text}>
        <Avatar person={{ id: userId, email: name, displayName: name }} size={16} />
        <span className="visually-hidden">{text}</span>
      </span>
    )
  }
  return (
    <span
      className={styles.mark}
      style={{ background: colorOf(userId) }}
      data-testid="record-mark"
      data-tip={text}
    >
      {/* Placed in the direction of the page, written in that of the name. */}
      <span className={styles.name} dir="auto">
        {name}
      </span>
    </span>
  )
}

function personAt(recordId: RecordId): Presence | undefined {
  const tableId = ownPosition.getState().screen?.tableId
  return others.getState().find((each) => each.recordId === recordId && each.tableId === tableId)
}

/** A person at each record of the open table that somebody has open or selected. */
export function peopleAtRecords(): ReadonlyMap<RecordId, Presence> {
  const tableId = ownPosition.getState().screen?.tableId
  const people = new Map<RecordId, Presence>()
  for (const each of others.getState()) {
    if (each.recordId !== null && each.tableId === tableId) people.set(each.recordId, each)
  }
  return people
}
