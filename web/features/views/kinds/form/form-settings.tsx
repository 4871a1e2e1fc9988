import { type ReactNode, useId, useState } from 'react'
import { isEmail } from '../../../../../src/core/fields/checked-text.ts'
import { MAX_ANSWER_RECIPIENTS } from '../../../../../src/core/views/form.ts'
import { redirectAddress } from '../../../../../src/core/views/form-answers.ts'
import { m } from '../../../../messages.gen.ts'
import { RichTextEditor } from '../../../../rich-text/rich-text-editor.tsx'
import { trpc } from '../../../../trpc.ts'
import { Button } from '../../../../ui/button.tsx'
import { Group } from '../../../../ui/composite.tsx'
import { TextField } from '../../../../ui/field.tsx'
import { localInputValue } from '../../../../ui/local-input-value.ts'
import { Tick } from '../../../schema/options/controls.tsx'
import toolbar from '../../controls/toolbar.module.css'
import styles from './builder.module.css'
import type { FormBuilder } from './use-form-builder.ts'

/** Preset background colours. */
const GROUNDS = ['#EEF0F4', '#EBF0FF', '#E8F6ED', '#FFF5E0', '#FDEEF6', '#F3EDFC', '#1D2433'] as const

/** Settings of the form. */
export function FormSettings({ builder }: { builder: FormBuilder }) {
  const { options, change } = builder
  const info = trpc.app.info.useQuery()
  return (
    <div className={styles.settings} data-testid="form-settings">
      <Section title={m.form_appearance()}>
        <Tick
          label={m.form_banner()}
          checked={!options.hideBanner}
          onChange={(isShown) => change({ hideBanner: !isShown })}
        />
        <Tick
          label={m.form_show_made_with_sheaf()}
          checked={!options.hideBranding}
          onChange={(isShown) => change({ hideBranding: !isShown })}
        />
        <Ground value={options.backgroundColor} onChange={(backgroundColor) => change({ backgroundColor })} />
      </Section>
      <Section title={m.form_after_submission()}>
        <span className={styles.caption}>{m.form_message()}</span>
        <RichTextEditor
          label={m.form_message_after_submission()}
          value={options.successMessage ?? ''}
          placeholder={m.form_thank_response_submitted()}
          onCommit={(text) => change({ successMessage: text.trim() === '' ? null : text })}
        />
        <Checked
          label={m.form_redirect_to_a_url()}
          value={options.redirectUrl ?? ''}
          placeholder="https://example.com/thanks?id={record_id}"
          check={(text) => (redirectAddress(text, 1) ? null : m.form_enter_url_starts_http_https())}
          onCommit={(text) => change({ redirectUrl: text || null })}
        />
        {options.redirectUrl !== null && (
          <Amount
            label={m.form_delay_seconds()}
            value={options.redirectAfterSeconds}
            min={0}
            max={60}
            onChange={(seconds) => change({ redirectAfterSeconds: seconds ?? 3 })}
          />
        )}
        <Tick
          label={m.form_show_submit_another_response()}
          checked={options.submitAnother}
          onChange={(submitAnother) => change({ submitAnother })}
        />
        <Tick
          label={m.form_show_new_form_after_5()}
          checked={options.showBlankForm}
          onChange={(showBlankForm) => change({ showBlankForm })}
        />
      </Section>
      <Section title={m.form_notifications()}>
        <Checked
          label={m.form_email_responses_to()}
          value={options.emailTo ?? ''}
          placeholder="ann@example.com, ben@example.com"
          check={(text) => {
            const all = text.split(',')
            const wrong = all.find((one) => !isEmail(one.trim()))
            if (wrong !== undefined) return m.form_text_not_valid_email_address({ text: wrong.trim() })
            return all.length > MAX_ANSWER_RECIPIENTS
              ? m.form_up_to_addresses({ count: MAX_ANSWER_RECIPIENTS })
              : null
          }}
          onCommit={(text) => change({ emailTo: text || null })}
        />
        {options.emailTo !== null && info.data?.sendsMail === false && (
          <p className={styles.note} role="note">
            {m.form_server_cant_send_email_nothing()}
          </p>
        )}
      </Section>
      <Section title={m.form_availability()}>
        <Closing value={options.closesAt} onChange={(closesAt) => change({ closesAt })} />
        <Amount
          label={m.form_maximum_number_of_responses()}
          value={options.maxAnswers}
          min={1}
          max={1_000_000_000}
          onChange={(maxAnswers) => change({ maxAnswers })}
        />
        <Tick
          label={m.form_one_response_per_person()}
          checked={options.onePerPerson}
          onChange={(onePerPerson) => change({ onePerPerson })}
        />
        {options.onePerPerson && <p className={styles.note}>{m.form_one_response_hint()}</p>}
      </Section>
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** A text input saved on blur; an invalid text stays, with the error below it. */
function Checked(props: {
  label: string
  value: string
  placeholder: string
  check: (text: string) => string | null
  onCommit: (text: string) => void
}) {
  const { label, value, placeholder, check, onCommit } = props
  const [text, setText] = useState(value)
  const [told, setTold] = useState(value)
  const [error, setError] = useState<string | null>(null)
  if (told !== value) {
    setTold(value)
    setText(value)
  }
  return (
    <TextField
      label={label}
      value={text}
      placeholder={placeholder}
      error={error}
      onChange={(event) => {
        setText(event.target.value)
        setError(null)
      }}
      onBlur={() => {
        const next = text.trim()
        const problem = next === '' ? null : check(next)
        setError(problem)
        if (problem === null && next !== value) onCommit(next)
      }}
    />
  )
}

function Amount(props: {
  label: string
  value: number | null
  min: number
  max: number
  onChange: (value: number | null) => void
}) {
  const { label, value, min, max, onChange } = props
  const id = useId()
  return (
    <div className={styles.row}>
      <label htmlFor={id} className={styles.ruleName}>
        {label}
      </label>
      <input
        key={value}
        id={id}
        type="number"
        className={`${toolbar.input} ${styles.ruleValue}`}
        min={min}
        max={max}
        step={1}
        defaultValue={value ?? ''}
        onBlur={(event) => {
          const number = Math.round(event.target.valueAsNumber)
          const next = Number.isFinite(number) ? Math.max(min, Math.min(max, number)) : null
          event.target.value = next === null ? '' : String(next)
          if (next !== value) onChange(next)
        }}
      />
    </div>
  )
}

function Ground({ value, onChange }: { value: string | null; onChange: (value: string | null) => void }) {
  const id = useId()
  return (
    <div className={styles.part}>
      <span className={styles.caption} id={`${id}-label`}>
        {m.form_background()}
      </span>
      <Group className={styles.row} role="group" aria-labelledby={`${id}-label`}>
        {GROUNDS.map((color) => (
          <button
            key={color}
            type="button"
            className={styles.ground}
            style={{ background: color }}
            aria-pressed={value?.toUpperCase() === color}
            aria-label={m.form_background_color({ color })}
            onClick={() => onChange(color)}
          />
        ))}
        <input
          type="color"
          aria-label={m.form_custom_background()}
          // The picker fires a change per movement: save on blur only.
          key={value}
          defaultValue={value ?? '#eef0f4'}
          onBlur={(event) => {
            if (event.target.value !== (value ?? '#eef0f4')) onChange(event.target.value)
          }}
        />
        {value !== null && (
          <Button size="small" variant="ghost" onClick={() => onChange(null)}>
            {m.common_none()}
          </Button>
        )}
      </Group>
    </div>
  )
}

/** Closing time, in the user's time zone. */
function Closing({ value, onChange }: { value: string | null; onChange: (value: string | null) => void }) {
  const id = useId()
  const [isPartial, setPartial] = useState(false)
  return (
    <div className={styles.part}>
      <label htmlFor={id} className={styles.caption}>
        {m.form_close_form_on()}
      </label>
      <span className={styles.row}>
        <input
          key={value}
          id={id}
          type="datetime-local"
          className={toolbar.input}
          aria-invalid={isPartial || undefined}
          aria-describedby={isPartial ? `${id}-problem` : undefined}
          defaultValue={value === null ? '' : localInputValue(value)}
          onBlur={(event) => {
            const { value: text, validity } = event.target
            // A date without a time has no value either, but does not mean “never”.
            setPartial(validity.badInput)
            if (validity.badInput) return
            const next = text === '' ? null : new Date(text).toISOString()
            if (next !== value && (next === null || value === null || text !== localInputValue(value)))
              onChange(next)
          }}
        />
        {value !== null && (
          <Button
            size="small"
            variant="ghost"
            onClick={() => {
              setPartial(false)
              onChange(null)
            }}
          >
            {m.form_never()}
          </Button>
        )}
      </span>
      {isPartial && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {m.form_choose_date_and_time()}
        </p>
      )}
      {value !== null && Date.parse(value) < Date.now() && (
        <p className={styles.note}>{m.form_date_passed_form_closed()}</p>
      )}
    </div>
  )
}
