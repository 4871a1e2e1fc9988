import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { hasMultipleChoices } from '../../../../src/core/fields/traits.ts'
import { offeredChoices } from '../../../../src/core/views/question.ts'
import type { Cell, EditorHandle } from '../../../cells/cell.ts'
import { isFocusLeaving } from '../../../cells/focus-within.ts'
import { m } from '../../../messages.gen.ts'
import { ControlGroup } from '../../../ui/composite.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

/**
 * Edits an answer with the field type's grid editor. Valid input is stored on every keystroke, so that
 * conditions update and a reload loses nothing; invalid text is reported on blur or Enter.
 *
 * `typed` is text from an input before this one, which is read at once; null if there was none.
 */
export function CellAnswer({ cell, typed, ...props }: AnswerProps & { cell: Cell; typed: string | null }) {
  const { question, run, id, isReadOnly } = props
  const { field } = question
  const value = run.value(field.id)
  const options = cell.type.options.parse(
    hasMultipleChoices(field)
      ? { ...field.options, choices: offeredChoices(field, question.form) }
      : field.options,
  )
  const editor = useRef<EditorHandle>(null)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const [opened, setOpened] = useState(value)
  const [isUnread, setUnread] = useState(false)
  const takesFocus = useRef(false)
  if (!isFocused && !isUnread && !Object.is(opened, value)) setOpened(value)
  useLayoutEffect(() => {
    if (!isOpen && takesFocus.current) button.current?.focus()
    takesFocus.current = false
  }, [isOpen])

  const readTyped = useRef(typed !== null)
  useLayoutEffect(() => {
    if (!readTyped.current) return
    readTyped.current = false
    read(true)
    run.leave(field.id)
  })

  const { View, Editor } = cell
  const view = (
    <View
      value={value}
      field={field}
      options={options}
      variant="record"
      lines={Number.MAX_SAFE_INTEGER}
      width={null}
    />
  )
  if (!Editor || isReadOnly) {
    return (
      <div id={id} className={styles.fixed}>
        {view}
      </div>
    )
  }
  if (cell.opensList && !isOpen) {
    return (
      <button
        ref={button}
        type="button"
        id={id}
        className={styles.opener}
        aria-haspopup="listbox"
        aria-labelledby={`${props.labelId} ${id}`}
        aria-describedby={props.describedBy}
        data-invalid={props.isInvalid || undefined}
        onClick={() => setOpen(true)}
      >
        {value === null ? <span className={styles.faint}>{m.common_choose()}</span> : view}
      </button>
    )
  }

  const close = () => {
    takesFocus.current = box.current?.contains(document.activeElement) ?? false
    setOpen(false)
  }
  const change = (next: CellValue) => {
    setUnread(false)
    run.setUnread(field.id, null)
    run.set(field.id, next)
  }
  const commit = (next: CellValue) => {
    change(next)
    setOpened(next)
    close()
  }
  /** @param isLeaving reports invalid text as an error; while typing it may just be incomplete */
  const read = (isLeaving: boolean) => {
    const draft = editor.current?.read()
    if (!draft) return
    if (isLeaving || draft.ok) {
      setUnread(!draft.ok)
      run.setUnread(field.id, draft.ok ? null : draft.message)
    }
    if (draft.ok) run.set(field.id, draft.value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      close()
    }
    if (event.key !== 'Enter') return
    read(true)
    run.leave(field.id)
    if (isOpen) {
      event.preventDefault()
      close()
    }
  }
  return (
    <ControlGroup
      ref={box}
      className={styles.editor}
      data-invalid={props.isInvalid || undefined}
      onKeyDown={onKeyDown}
      onInput={() => read(false)}
      onFocus={() => setFocused(true)}
      onBlur={(event) => {
        if (!isFocusLeaving(event)) return
        setFocused(false)
        read(true)
        run.leave(field.id)
        setOpen(false)
      }}
    >
      <Editor
        key={`${run.epoch}:${typeof opened}:${opened}`}
        ref={editor}
        value={opened}
        field={field}
        options={options}
        variant="record"
        typed={readTyped.current ? typed : null}
        commit={commit}
        change={change}
        cancel={close}
        invalid={props.isInvalid}
        describedBy={props.describedBy}
        label={question.form.label ?? field.title}
        id={id}
        autoFocus={isOpen}
      />
    </ControlGroup>
  )
}
