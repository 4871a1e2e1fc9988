import './option-messages.ts'
import { ArrowRight, ChevronDown, ChevronRight, TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { hasFormula, withPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { CELLS } from '../../cells/index.ts'
import { usePeople } from '../../cells/people-context.ts'
import { detailsOf, messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import { showError } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { ControlGroup } from '../../ui/composite.tsx'
import { useIsMounted } from '../../ui/effects.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Popover } from '../../ui/overlays.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { Skeleton } from '../../ui/states.tsx'
import { askRemoval } from './ask-removal.ts'
import { DefaultValue } from './default-value.tsx'
import { createField, type FieldPlace, latestField, updateField } from './field-commands.tsx'
import {
  canBeRequired,
  canBeUnique,
  draftOf,
  type FieldDraft,
  missingOption,
  problemOf,
  toInput,
  toPatch,
  withType,
} from './field-draft.ts'
import styles from './field-editor.module.css'
import { Tick } from './options/controls.tsx'
import optionStyles from './options/options.module.css'
import { OptionsEditor } from './options/options-editor.tsx'
import { TypeList, useWithheldTypes } from './type-list.tsx'

interface FieldEditorProps {
  table: Pick<Table, 'id' | 'baseId'>
  /** Null: a new field. */
  field: Field | null
  anchor: Element | { x: number; y: number }
  place?: FieldPlace
  /** Draft of an abandoned editor, to continue. */
  start?: FieldDraft
  onClose: () => void
  /**
   * Called when the editor is closed by Escape, Back or a press outside with unsaved changes, or when a save that was
   * running at that moment fails or is given up later.
   */
  onAbandoned: (draft: FieldDraft) => void
}

/** Creates or edits a field: title, type, options, rules, default value and description. */
export function FieldEditor(props: FieldEditorProps) {
  const { table, field, anchor, place, start, onClose, onAbandoned } = props
  const [draft, setDraft] = useState(() => start ?? draftOf(field))
  /** Initial search of the open type list; null while it is closed. */
  const [search, setSearch] = useState<string | null>(null)
  const [showsMore, setShowsMore] = useState(field?.description != null || draft.defaultValue !== null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const isMounted = useIsMounted()
  /** True once the editor was left, perhaps during a save. */
  const isLeft = useRef(false)
  const typeButton = useRef<HTMLButtonElement>(null)
  const moreId = useId()
  const withheld = useWithheldTypes(table, field)
  const type = fieldType(draft.type)
  const { Icon } = CELLS[draft.type]
  const isConverting = field !== null && draft.type !== field.type
  const problem = problemOf(draft)
  const missing = missingOption(draft)
  const change = (patch: Partial<FieldDraft>) => {
    setDraft({ ...draft, ...patch })
    setError(null)
  }

  function leave() {
    isLeft.current = true
    onClose()
    // A running save goes on without the editor.
    if (!isBusy && JSON.stringify(draft) !== JSON.stringify(draftOf(field))) onAbandoned(draft)
  }

  /** False after `leave` even before the editor is removed, and once the screen shows the editor of another field. */
  const isOpen = () => isMounted.current && !isLeft.current

  async function save() {
    if (isBusy || problem !== null || missing !== null) return
    setBusy(true)
    try {
      if (field) {
        const latest = latestField(table, field)
        const patch = toPatch(draft, field, latest)
        if (Object.keys(patch).length === 0) return onClose()
        if (!(await askRemoval(latest, patch))) {
          if (!isOpen()) onAbandoned(draft)
          return
        }
        await updateField(table, latest, patch)
      } else {
        await createField(table, toInput(draft), place)
      }
      if (isOpen()) onClose()
    } catch (refusal) {
      if (isOpen()) return setError(refusal)
      showError(refusal)
      onAbandoned(draft)
    } finally {
      setBusy(false)
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    const isPlainInput = event.target instanceof HTMLInputElement && event.target.type === 'text'
    const isSave = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
    if (!isSave && !(event.key === 'Enter' && isPlainInput && !event.defaultPrevented)) return
    event.preventDefault()
    void save()
  }

  /** On the type button, Arrow Down opens the list, and a letter opens it with that search. */
  function openByKey(event: KeyboardEvent) {
    const isLetter = event.key.length === 1 && event.key !== ' '
    if (event.ctrlKey || event.metaKey || event.altKey || !(isLetter || event.key === 'ArrowDown')) return
    event.preventDefault()
    setSearch(isLetter ? event.key : '')
  }

  const isTitleWrong = error !== null && detailsOf(error).problem !== undefined
  return (
    <Popover
      anchor={anchor}
      onClose={leave}
      label={field ? m.schema_edit_field() : m.common_add_field()}
      className={`${styles.popover} ${hasFormula(draft) ? styles.wide : ''}`}
    >
      <ControlGroup className={styles.editor} data-testid="field-editor" onKeyDown={onKeyDown}>
        <TextField
          label={m.schema_field_name()}
          placeholder={m.schema_type_optional({ type: type.label() })}
          data-autofocus
          maxLength={255}
          value={draft.title}
          onChange={(event) => change({ title: event.target.value })}
          error={isTitleWrong ? messageOf(error) : null}
        />
        <div className={styles.part}>
          <button
            ref={typeButton}
            type="button"
            className={styles.type}
            aria-expanded={search !== null}
            aria-label={m.schema_type_type({ type: type.label() })}
            data-testid="field-type"
            disabled={field?.isPrimaryKey}
            onClick={() => setSearch(search === null ? '' : null)}
            onKeyDown={openByKey}
          >
            <Icon size={15} aria-hidden />
            <span className={styles.typeName}>{type.label()}</span>
            <ChevronDown size={14} aria-hidden />
          </button>
          {search !== null && (
            <TypeList
              key={search}
              value={draft.type}
              search={search}
              withheld={withheld}
              onClose={() => setSearch(null)}
              onChoose={(name) => {
                setDraft(withType(draft, name, field))
                setSearch(null)
                setError(null)
                typeButton.current?.focus()
              }}
            />
          )}
        </div>
        {field?.error && !isConverting && (
          <p className={optionStyles.broken} role="note">
            <TriangleAlert size={14} aria-hidden />
            <span dir="auto">{m.schema_reason_edit_fields_settings_delete({ reason: field.error })}</span>
          </p>
        )}
        {isConverting && field && missing === null && <TypePreview field={field} draft={draft} />}
        <OptionsEditor
          type={draft.type}
          options={draft.options}
          onChange={(options) => change({ options })}
          table={table}
          field={isConverting ? null : field}
          isConverting={isConverting}
          chooseType={(name) => setDraft(withType(draft, name, field))}
        />
        {canBeRequired(draft) && (
          <div className={styles.rules}>
            <Tick
              label={m.common_required()}
              checked={draft.required}
              onChange={(required) => change({ required })}
            />
            {canBeUnique(draft) && (
              <Tick
                label={m.schema_unique_values()}
                checked={draft.unique}
                onChange={(unique) => change({ unique })}
              />
            )}
          </div>
        )}
        <button
          type="button"
          className={styles.more}
          aria-expanded={showsMore}
          aria-controls={moreId}
          onClick={() => setShowsMore(!showsMore)}
        >
          {showsMore ? <ChevronDown size={14} /> : <ChevronRight size={14} className="flip-in-rtl" />}
          {type.readOnly || type.computed || type.noDefault
            ? m.common_description()
            : m.schema_default_value_and_description()}
        </button>
        {showsMore && (
          <div id={moreId} className={styles.part}>
            {!type.readOnly && !type.computed && !type.noDefault && (
              <DefaultValue
                baseId={table.baseId}
                draft={draft}
                onChange={(defaultValue) => change({ defaultValue })}
              />
            )}
            <TextArea
              label={m.common_description()}
              rows={2}
              value={draft.description}
              onChange={(event) => change({ description: event.target.value })}
            />
          </div>
        )}
        {(problem ?? (error !== null && !isTitleWrong)) && (
          <p role="alert" className={styles.error}>
            {problem ?? messageOf(error)}
          </p>
        )}
        <div className={styles.foot}>
          <Button size="small" disabled={isBusy} onClick={onClose}>
            {m.common_cancel()}
          </Button>
          <Button
            size="small"
            variant="primary"
            busy={isBusy}
            disabled={problem !== null || missing !== null}
            data-tip={missing ?? shortcutLabel('mod+enter')}
            onClick={() => void save()}
          >
            {field ? m.schema_save_field() : m.common_add_field()}
          </Button>
        </div>
      </ControlGroup>
    </Popover>
  )
}

/** Previews the effect of a type change on the field's values. */
function TypePreview({ field, draft }: { field: Field; draft: FieldDraft }) {
  const preview = trpc.schema.previewType.useQuery(
    { fieldId: field.id, type: draft.type, options: draft.options, timeZone },
    { staleTime: 0, retry: false },
  )
  const people = [...usePeople().values()]
  if (preview.error) {
    return (
      <p role="alert" className={styles.error}>
        {messageOf(preview.error)}
      </p>
    )
  }
  if (!preview.data) return <Skeleton height={34} />
  const { total, converted, lost, samples } = preview.data
  const shown = shownType(field)
  const text = (value: CellValue, type: Field['type'], options: Field['options']) => {
    if (value === null) return m.common_empty()
    // Link previews are record names already.
    if (fieldType(type).computed === 'link') return String(value)
    return fieldType(type).format(value, withPeople(type, options, people))
  }
  return (
    <div
      className={styles.preview}
      data-lossy={lost > 0 || undefined}
      data-testid="type-preview"
      role="status"
    >
      {total === 0 && m.schema_field_no_values_yet()}
      {total > 0 && lost === 0 && m.schema_all_values_will_be_converted({ count: converted })}
      {lost > 0 && <strong>{m.schema_values_cant_fully_converted_lose({ count: lost })} </strong>}
      {lost > 0 && m.schema_will_be_converted({ count: converted })}
      {lost > 0 && ` ${m.schema_undo_brings_them_back()}`}
      {samples.length > 0 && (
        <ul className={styles.samples}>
          {samples.slice(0, 4).map((sample) => (
            <li key={sample.recordId} className={styles.sample}>
              <span dir="auto">{text(sample.from, shown.type.name as Field['type'], shown.options)}</span>
              <ArrowRight size={13} className="flip-in-rtl" aria-label={m.schema_becomes()} />
              <span dir="auto">{text(sample.to, draft.type, draft.options)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
