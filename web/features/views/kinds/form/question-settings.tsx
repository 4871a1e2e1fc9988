import { useEffect, useRef } from 'react'
import type { Choice } from '../../../../../src/core/fields/choices.ts'
import { isNamedLink } from '../../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../../src/core/fields/link-options.ts'
import { hasChoices, holdsPeople } from '../../../../../src/core/fields/traits.ts'
import type { Filter, FilterGroup as Group } from '../../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../../src/core/model.ts'
import type { Question } from '../../../../../src/core/views/question.ts'
import { m } from '../../../../messages.gen.ts'
import { RichTextEditor } from '../../../../rich-text/rich-text-editor.tsx'
import { DefaultValue } from '../../../schema/default-value.tsx'
import { draftOf } from '../../../schema/field-draft.ts'
import { Tick } from '../../../schema/options/controls.tsx'
import { completeFilter, fromGroup, isComparable } from '../../filter/filter-edit.ts'
import { FilterGroup } from '../../filter/filter-group.tsx'
import { useFilterDraft } from '../../filter/use-filter-draft.ts'
import styles from './builder.module.css'
import { RulesEditor } from './rules-editor.tsx'
import type { FormBuilder } from './use-form-builder.ts'

export interface QuestionSettingsProps {
  question: Question
  builder: FormBuilder
  people: readonly Person[]
  baseId: string
}

/** Settings of one question. */
export function QuestionSettings({ question, builder, people, baseId }: QuestionSettingsProps) {
  const { field, form } = question
  const update = (patch: Parameters<FormBuilder['updateQuestion']>[1]) =>
    builder.updateQuestion(field.id, patch)
  const at = builder.questions.findIndex((one) => one.field.id === field.id)
  const ahead = builder.questions.slice(0, at).map((one) => one.field)
  const isSelect = hasChoices(field)
  const hasDefault = fieldType(field.type).noDefault !== true && !linkOf(field) && !holdsPeople(field)
  return (
    <div className={styles.settings} data-testid="question-settings">
      <h2 className={styles.settingsTitle} dir="auto">
        {field.title}
      </h2>
      <Tick
        label={field.required ? m.form_required_set_on_the_field() : m.common_required()}
        checked={question.isRequired}
        onChange={(required) => update({ required })}
      />
      {holdsPeople(field) && <p className={styles.note}>{m.form_people_field_not_public()}</p>}
      <Part label={m.form_help_text()}>
        <RichTextEditor
          label={m.form_help_text()}
          value={form.help ?? ''}
          placeholder={field.description ?? m.form_shown_below_the_question()}
          onCommit={(help) => update({ help: help.trim() === '' ? null : help })}
        />
      </Part>
      {isSelect && <OptionsPart question={question} update={update} />}
      {hasDefault && (
        <DefaultValue
          baseId={baseId}
          draft={{ ...draftOf(field), defaultValue: form.defaultValue }}
          onChange={(defaultValue) => update({ defaultValue })}
        />
      )}
      <Part label={m.form_show_only_if()}>
        <ConditionPart
          filter={form.showIf}
          fields={ahead}
          people={people}
          onChange={(showIf) => update({ showIf })}
        />
      </Part>
      <Part label={m.form_rules()}>
        <RulesEditor field={field} rules={form.rules} onChange={(rules) => update({ rules })} />
      </Part>
      {fieldType(field.type).scannable && (
        <Tick
          label={m.form_allow_scanning_barcodes_qr_codes()}
          checked={form.enableScanner}
          onChange={(enableScanner) => update({ enableScanner })}
        />
      )}
    </div>
  )
}

function Part({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{label}</h3>
      {children}
    </section>
  )
}

/** Display and subset of a select field's options. */
function OptionsPart({
  question: { field, form },
  update,
}: {
  question: Question
  update: (patch: Parameters<FormBuilder['updateQuestion']>[1]) => void
}) {
  const choices = (field.options as { choices?: Choice[] }).choices ?? []
  const { limitOptions, layout } = form
  return (
    <Part label={m.form_options()}>
      <div className={styles.row} role="radiogroup" aria-label={m.form_option_layout()}>
        {(['dropdown', 'list'] as const).map((one) => (
          <label key={one} className={styles.radio}>
            <input
              type="radio"
              name={`layout-${field.id}`}
              checked={layout === one}
              onChange={() => update({ layout: one })}
            />
            {one === 'dropdown' ? m.form_dropdown() : m.common_list()}
          </label>
        ))}
      </div>
      <Tick
        label={m.form_limit_options()}
        checked={limitOptions !== null}
        onChange={(isLimited) =>
          update({ limitOptions: isLimited ? choices.map(({ title }) => title) : null })
        }
      />
      {limitOptions !== null && (
        <div className={styles.limited}>
          {choices.map(({ id, title }) => (
            <Tick
              key={id}
              label={<span dir="auto">{title}</span>}
              checked={limitOptions.includes(title)}
              onChange={(isOn) =>
                update({
                  limitOptions: choices
                    .map((choice) => choice.title)
                    .filter((one) => (one === title ? isOn : limitOptions.includes(one))),
                })
              }
            />
          ))}
          {!choices.some(({ title }) => limitOptions.includes(title)) && (
            <p className={styles.note}>{m.form_all_options_are_shown()}</p>
          )}
        </div>
      )}
    </Part>
  )
}

/** A condition is saved after this time without input. */
const PAUSE_MS = 500

/** Conditions on earlier answers. Incomplete ones stay local and are not saved. */
function ConditionPart(props: {
  filter: Filter | null
  fields: readonly Field[]
  people: readonly Person[]
  onChange: (filter: Filter | null) => void
}) {
  const { filter, people, onChange } = props
  // The form knows the id of a selected record, but not its name.
  const fields = props.fields.filter((field) => isComparable(field) && !isNamedLink(field))
  const { group, isEdited, edit } = useFilterDraft(filter)
  const latest = useRef({ group, fields, filter, onChange })
  latest.current = { group, fields, filter, onChange }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const apply = useRef(() => {
    clearTimeout(timer.current)
    if (!isEdited.current) return
    const { group, fields, filter, onChange } = latest.current
    const whole = fromGroup(group)
    const next = completeFilter(whole, fields)
    isEdited.current = JSON.stringify(next) !== JSON.stringify(whole)
    if (JSON.stringify(next) !== JSON.stringify(filter)) onChange(next)
  })
  useEffect(() => () => apply.current(), [])
  const change = (next: Group) => {
    edit(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => apply.current(), PAUSE_MS)
  }
  if (fields.length === 0) {
    return <p className={styles.note}>{m.form_first_question_has_no_conditions()}</p>
  }
  return (
    <div className={styles.conditions}>
      {group.children.length === 0 && <p className={styles.note}>{m.form_always_shown()}</p>}
      <FilterGroup group={group} path={[]} root={group} fields={fields} people={people} onChange={change} />
    </div>
  )
}
