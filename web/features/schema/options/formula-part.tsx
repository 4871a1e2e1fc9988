import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { BUTTON_COLORS, BUTTON_THEMES, valuesOfButton } from '../../../../src/core/fields/button.ts'
import { OWN_COLUMN } from '../../../../src/core/fields/field.ts'
import { type FormulaDisplay, formulaOf } from '../../../../src/core/fields/formula.ts'
import { displaysOf, fitsDisplay, formulaResult } from '../../../../src/core/fields/formula-display.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { ScalarType } from '../../../../src/core/formula/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import { BUTTON_ICONS, ButtonFace } from '../../../cells/button.tsx'
import { m } from '../../../messages.gen.ts'
import { TextField } from '../../../ui/field.tsx'
import { FormulaEditor } from '../../formula/formula-editor.tsx'
import editor from '../field-editor.module.css'
import { ButtonValues, ButtonWebhook } from './button-options.tsx'
import { Choice, type FieldOptionsProps } from './controls.tsx'
import optionStyles from './options.module.css'

/** Formula editor and the display format of the result. */
export function FormulaPart({
  options,
  onChange,
  table,
  field,
  chooseType,
  OptionsOfType,
}: FieldOptionsProps) {
  const { formula, display } = formulaOf({ options })
  const [type, setType] = useState<ScalarType | null>(null)
  return (
    <div className={editor.part} data-wide>
      <FormulaEditor
        label={m.schema_formula()}
        table={table}
        field={field}
        value={formula}
        onChange={(next) => onChange({ ...options, formula: next })}
        resultOf={(type) => formulaResult(type, display)}
        onType={(next) => {
          setType(next)
          // The server rejects a format that does not fit the result's type.
          if (!fitsDisplay(next, display)) onChange({ ...options, display: null })
        }}
      />
      {type !== null && (
        <Formatting
          key={type}
          type={type}
          display={display}
          onDisplay={(next) => onChange({ ...options, display: next })}
          table={table}
          chooseType={chooseType}
          OptionsOfType={OptionsOfType}
        />
      )}
    </div>
  )
}

interface FormattingProps extends Pick<FieldOptionsProps, 'table' | 'chooseType' | 'OptionsOfType'> {
  type: ScalarType
  display: FormulaDisplay | null
  onDisplay: (display: FormulaDisplay | null) => void
}

/** Display format of the result: a field type with its options. */
function Formatting({ type, display, onDisplay, table, chooseType, OptionsOfType }: FormattingProps) {
  const [isOpen, setOpen] = useState(display !== null)
  const id = useId()
  const shown = formulaResult(type, display)
  const isWhole = (name: string) => fieldType(name).fractional !== undefined
  return (
    <div className={editor.part}>
      <button
        type="button"
        className={editor.more}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} className="flip-in-rtl" />}
        {m.schema_formatting()}
      </button>
      {isOpen && (
        <div id={id} className={editor.part} data-testid="formula-formatting">
          <Choice
            label={m.schema_show_as()}
            value={shown.type}
            values={displaysOf(type).map((name) => ({
              value: name,
              label: isWhole(name) ? m.schema_whole_number() : fieldType(name).label(),
            }))}
            onChange={(name) => onDisplay(name === displaysOf(type)[0] ? null : { type: name, options: {} })}
          />
          <OptionsOfType
            type={shown.type}
            options={shown.options}
            onChange={(options) => onDisplay({ type: shown.type, options })}
            table={table}
            field={null}
            chooseType={chooseType}
          />
        </div>
      )}
    </div>
  )
}

/** Label, style and URL formula of a button. */
export function ButtonPart({ options, onChange, table, field }: FieldOptionsProps) {
  const set = (patch: object) => onChange({ ...options, ...patch })
  const expects = { type: 'text' as const, message: m.schema_url_must_be_text() }
  return (
    <div className={editor.part} data-wide>
      <div className={optionStyles.pair}>
        <TextField
          label={m.schema_label()}
          placeholder={m.schema_same_as_the_field_name()}
          maxLength={255}
          value={String(options.label ?? '')}
          onChange={(event) => set({ label: event.target.value })}
        />
        <div className={editor.part}>
          <span>{m.schema_preview()}</span>
          <span>
            <ButtonFace value={SAMPLE} field={field ?? SAMPLE_FIELD()} options={options} />
          </span>
        </div>
      </div>
      <div className={optionStyles.pair}>
        <Choice
          label={m.schema_style()}
          value={String(options.theme)}
          values={BUTTON_THEMES.map((value) => ({ value: String(value), label: themeLabel(value) }))}
          onChange={(theme) => set({ theme })}
        />
        <Choice
          label={m.common_colour()}
          value={String(options.color)}
          values={BUTTON_COLORS.map((value) => ({ value: String(value), label: colorLabel(value) }))}
          onChange={(color) => set({ color })}
        />
      </div>
      <Choice
        label={m.common_icon()}
        value={String(options.icon ?? '')}
        values={[
          { value: '', label: m.common_none() },
          ...Object.keys(BUTTON_ICONS).map((value) => ({ value, label: iconLabel(value) })),
        ]}
        onChange={(icon) => set({ icon: icon || null })}
      />
      <Choice
        label={m.schema_button_action()}
        value={String(options.kind)}
        values={[
          { value: 'url', label: m.schema_button_open_url() },
          { value: 'webhook', label: m.schema_button_call_webhook() },
          { value: 'update', label: m.schema_button_change_record() },
        ]}
        onChange={(kind) => set({ kind })}
      />
      {options.kind === 'webhook' ? (
        <ButtonWebhook
          table={table}
          webhookId={options.webhookId}
          onChange={(webhookId) => set({ webhookId })}
        />
      ) : options.kind === 'update' ? (
        <ButtonValues
          table={table}
          values={valuesOfButton({ options })}
          onChange={(values) => set({ values })}
        />
      ) : (
        <FormulaEditor
          label={m.schema_url_formula()}
          table={table}
          field={field}
          value={formulaOf({ options }).formula}
          onChange={(formula) => set({ formula })}
          expects={expects}
        />
      )}
      <TextField
        label={m.schema_button_confirmation()}
        placeholder={m.schema_button_confirmation_example()}
        maxLength={500}
        value={String(options.confirmation ?? '')}
        onChange={(event) => set({ confirmation: event.target.value })}
      />
    </div>
  )
}

const SAMPLE = JSON.stringify({ type: 'url', label: '', url: 'https://example.com/' })

/** Stands in for a new field, which names the button. */
const SAMPLE_FIELD = (): Field => ({
  id: '',
  tableId: '',
  title: m.schema_button(),
  columnName: '',
  type: 'Button',
  options: {},
  order: 0,
  description: null,
  required: false,
  unique: false,
  defaultValue: null,
  isDisplay: false,
  isPrimaryKey: false,
  isSystem: false,
  ...OWN_COLUMN,
})

const themeLabel = (theme: (typeof BUTTON_THEMES)[number]): string =>
  ({ solid: m.schema_solid(), light: m.schema_light(), text: m.schema_text_only() })[theme]

const colorLabel = (color: (typeof BUTTON_COLORS)[number]): string =>
  ({
    brand: m.schema_standard(),
    red: m.schema_red(),
    green: m.schema_green(),
    maroon: m.schema_maroon(),
    blue: m.schema_blue(),
    orange: m.schema_orange(),
    pink: m.schema_pink(),
    purple: m.schema_purple(),
    yellow: m.schema_yellow(),
    gray: m.schema_grey(),
  })[color]

const iconLabel = (icon: string): string => {
  const labels: Record<string, string> = {
    open: m.common_open(),
    link: m.common_link(),
    mail: m.schema_mail(),
    phone: m.schema_phone(),
    map: m.common_place(),
    search: m.common_search(),
    download: m.common_download(),
    send: m.schema_send(),
    play: m.schema_play(),
    check: m.schema_check(),
    star: m.schema_star(),
  }
  return labels[icon] ?? icon
}
