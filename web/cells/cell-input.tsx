import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { type CellValue, completeOptions, readingOptions } from '../../src/core/fields/field-type.ts'
import { mergesEdits } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import type { FileTarget } from '../attachments/file-target.ts'
import { m } from '../messages.gen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { toast } from '../ui/toast.ts'
import type { EditorHandle, LinkTarget } from './cell.ts'
import { changedMeanwhile } from './changed-meanwhile.ts'
import styles from './editor.module.css'
import { isFocusLeaving } from './focus-within.ts'
import { CELLS } from './index.ts'
import { isEmptyList } from './link-value.ts'

interface CellInputProps {
  field: Field
  value: CellValue
  /** Called on blur with a changed value, and on a choice from a list. `opened` is the value at the beginning of the edit. */
  onCommit(value: CellValue, opened: CellValue): void
  /** True without the right to write; server-filled fields are never writable. */
  readOnly?: boolean
  createOption?: (title: string) => Promise<boolean>
  /** Upload target that outlives this input; fields of files can be edited only with one. */
  files?: FileTarget
  links?: LinkTarget
  /** Id of the control, for a `<label for>`. */
  id?: string
  /** The server's validation message, shown like the editor's own. */
  error?: string | null
  /** Commits what is being typed when the input is removed: its field was hidden, its record deleted, or the page left. */
  commitsOnRemoval?: boolean
}

/**
 * A field of an open record or form: the cell's editor in its `record` variant. Blur commits the value; an invalid one
 * stays in the input with its message.
 */
export function CellInput(props: CellInputProps): ReactNode {
  const { field, value, onCommit, readOnly = false, id, error = null } = props
  const cell = CELLS[field.type]
  const options = readingOptions(field, completeOptions(cell.type, field.options))
  const editor = useRef<EditorHandle>(null)
  const messageId = useId()
  const [message, setMessage] = useState<string | null>(null)
  const [isOpen, setOpen] = useState(false)
  // The editor's initial value. It follows outside changes only while the editor is unchanged.
  const [opened, setOpened] = useState(value)
  const [isFocused, setFocused] = useState(false)
  const [epoch, setEpoch] = useState(0)
  // The value committed last, which the editor still shows while it has the focus; `isTicked` by a list that stays open.
  const [committed, setCommitted] = useState<{ value: CellValue; isTicked?: true } | null>(null)
  if (!isFocused && !Object.is(opened, value) && message === null) {
    setOpened(value)
    setCommitted(null)
  }
  const edited = committed ? committed.value : opened
  // The server may store another form of a committed value, but not of a text or of what is ticked.
  const base = committed && !committed.isTicked && !mergesEdits(field) ? value : edited

  // A closing list returns the focus to its button, unless the focus has already moved on.
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const takesFocus = useRef(false)
  useLayoutEffect(() => {
    if (!isOpen && takesFocus.current) button.current?.focus()
    takesFocus.current = false
  }, [isOpen])
  const keepFocus = () => {
    takesFocus.current = box.current?.contains(document.activeElement) ?? false
  }

  // Set below, while an editor is drawn.
  const remove = useRef<(() => void) | null>(null)
  remove.current = null
  useLayoutEffect(() => () => remove.current?.(), [])

  const { View, Editor } = cell
  const canWrite = !readOnly && cell.type.readOnly !== true
  const view = (
    <View
      value={value}
      field={field}
      options={options}
      variant="record"
      lines={Number.MAX_SAFE_INTEGER}
      width={null}
      commit={canWrite ? (next) => onCommit(next, value) : undefined}
    />
  )
  // Lists and links may be empty without being null.
  const isNothing = field.error === null && isEmptyList(value)
  if (!canWrite || !Editor) {
    return (
      <>
        <div className={styles.recordView} data-readonly={!canWrite || undefined}>
          {isNothing && cell.type.computed ? <span className={styles.faint}>{m.common_none()}</span> : view}
        </div>
        {
          // E.g. the right to edit was revoked before the value was sent.
          error && (
            <div className={styles.recordMessage} role="alert">
              {error}
            </div>
          )
        }
      </>
    )
  }
  if (cell.opensList && !isOpen) {
    return (
      <button
        ref={button}
        type="button"
        id={id}
        className={styles.recordButton}
        aria-haspopup="listbox"
        onClick={() => setOpen(true)}
      >
        {isNothing ? <span className={styles.faint}>{m.common_choose()}</span> : view}
      </button>
    )
  }

  const commit = (next: CellValue) => {
    keepFocus()
    setMessage(null)
    setOpen(false)
    if (Object.is(next, value)) return
    onCommit(next, base)
    setCommitted({ value: next })
  }
  const leave = (): boolean => {
    const draft = editor.current?.read()
    if (!draft) return true
    // Unchanged: it must not replace what someone else has written meanwhile.
    if (draft.ok) commit(Object.is(draft.value, edited) ? value : draft.value)
    else setMessage(draft.message)
    return draft.ok
  }
  if (props.commitsOnRemoval) {
    remove.current = () => {
      if (!box.current?.contains(document.activeElement)) return
      const draft = editor.current?.read()
      leave()
      if (draft?.ok === false) toast.error({ text: draft.message })
      // Keys then reach the panel around it.
      box.current.closest<HTMLElement>('[tabindex="-1"]')?.focus({ preventScroll: true })
    }
  }
  /** True if there are unsaved changes; without any, Escape closes the surrounding dialog or panel. */
  const hasDraft = (): boolean => {
    const draft = editor.current?.read()
    return message !== null || (draft !== undefined && (!draft.ok || !Object.is(draft.value, value)))
  }
  const cancel = () => {
    keepFocus()
    setMessage(null)
    setOpen(false)
    // A new key resets the editor to the stored value.
    setOpened(value)
    setCommitted(null)
    setEpoch(epoch + 1)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && (isOpen || (isFocused && hasDraft()))) {
      event.preventDefault()
      cancel()
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      leave()
    }
  }
  return (
    <ControlGroup
      ref={box}
      className={styles.recordEditor}
      data-testid="cell-input"
      data-field={field.id}
      data-invalid={message || error ? true : undefined}
      data-unfinished={message !== null || undefined}
      onKeyDown={onKeyDown}
      onInput={() => setMessage(null)}
      onFocus={() => setFocused(true)}
      onBlur={(event) => {
        if (!isFocusLeaving(event)) return
        setFocused(false)
        leave()
      }}
    >
      <Editor
        // Uploads change a file list while it is open; the editor has no draft.
        key={cell.takesFiles ? epoch : `${epoch}:${typeof opened}:${opened}`}
        ref={editor}
        value={cell.takesFiles ? value : opened}
        field={field}
        options={options}
        variant="record"
        typed={null}
        commit={commit}
        change={(next) => {
          onCommit(next, cell.takesFiles ? value : base)
          setCommitted({ value: next, isTicked: true })
        }}
        cancel={cancel}
        createOption={props.createOption}
        links={props.links}
        files={props.files}
        invalid={message !== null || error !== null}
        describedBy={message || error ? messageId : undefined}
        label={field.title}
        id={id}
        autoFocus={isOpen || (epoch > 0 && isFocused)}
      />
      {isFocused && !cell.takesFiles && !Object.is(value, base) && (
        <div className={styles.recordHint} role="status">
          {changedMeanwhile(field)}
        </div>
      )}
      {(message ?? error) && (
        <div id={messageId} className={styles.recordMessage} role="alert">
          {message ?? error}
        </div>
      )}
    </ControlGroup>
  )
}
