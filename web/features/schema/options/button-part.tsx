import { BUTTON_COLORS, BUTTON_THEMES } from '../../../../src/core/fields/button.ts'
import { OWN_COLUMN } from '../../../../src/core/fields/field.ts'
import { formulaOf } from '../../../../src/core/fields/formula.ts'
import type { Field } from '../../../../src/core/model.ts'
import { BUTTON_ICONS, ButtonFace } from '../../../cells/button.tsx'
import { t } from '../../../i18n.ts'
import { TextField } from '../../../ui/field.tsx'
import { FormulaEditor } from '../../formula/formula-editor.tsx'
import editor from '../field-editor.module.css'
import optionStyles from './options.module.css'
import type { FieldOptionsProps } from './options-props.ts'
import { Choice } from './parts.tsx'

/** A button's words and looks, and the formula that makes the address it opens. */
export function ButtonPart({ options, onChange, table, field }: FieldOptionsProps) {
  const set = (patch: object) => onChange({ ...options, ...patch })
  const expects = { type: 'text' as const, message: t('The URL must be text: wrap numbers in CONCAT( … )') }
  return (
    <div className={editor.part} data-wide>
      <div className={optionStyles.pair}>
        <TextField
          label={t('Label')}
          placeholder={t('Same as the field name')}
          maxLength={255}
          value={String(options.label ?? '')}
          onChange={(event) => set({ label: event.target.value })}
        />
        <div className={editor.part}>
          <span>{t('Preview')}</span>
          <span>
            <ButtonFace value={SAMPLE} field={field ?? SAMPLE_FIELD()} options={options} />
          </span>
        </div>
      </div>
      <div className={optionStyles.pair}>
        <Choice
          label={t('Style')}
          value={String(options.theme)}
          values={BUTTON_THEMES.map((value) => ({ value: String(value), label: themeLabel(value) }))}
          onChange={(theme) => set({ theme })}
        />
        <Choice
          label={t('Colour')}
          value={String(options.color)}
          values={BUTTON_COLORS.map((value) => ({ value: String(value), label: colorLabel(value) }))}
          onChange={(color) => set({ color })}
        />
      </div>
      <Choice
        label={t('Icon')}
        value={String(options.icon ?? '')}
        values={[
          { value: '', label: t('None') },
          ...Object.keys(BUTTON_ICONS).map((value) => ({ value, label: iconLabel(value) })),
        ]}
        onChange={(icon) => set({ icon: icon || null })}
      />
      {options.kind === 'webhook' ? (
        <p className={optionStyles.note}>
          {t('Webhooks are not available yet, so this button does nothing')}
        </p>
      ) : (
        <FormulaEditor
          label={t('URL formula')}
          table={table}
          field={field}
          value={formulaOf({ options }).formula}
          onChange={(formula) => set({ formula })}
          expects={expects}
        />
      )}
    </div>
  )
}

const SAMPLE = JSON.stringify({ type: 'url', label: '', url: 'https://example.com/' })

/** Stands for a field that has not been made, so that the button has a name. */
const SAMPLE_FIELD = (): Field => ({
  id: '',
  tableId: '',
  title: t('Button'),
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
  ({ solid: t('Solid'), light: t('Light'), text: t('Text only') })[theme]

const colorLabel = (color: (typeof BUTTON_COLORS)[number]): string =>
  ({
    brand: t('Standard'),
    red: t('Red'),
    green: t('Green'),
    maroon: t('Maroon'),
    blue: t('Blue'),
    orange: t('Orange'),
    pink: t('Pink'),
    purple: t('Purple'),
    yellow: t('Yellow'),
    gray: t('Grey'),
  })[color]

const iconLabel = (icon: string): string => {
  const labels: Record<string, string> = {
    open: t('Open'),
    link: t('Link'),
    mail: t('Mail'),
    phone: t('Phone'),
    map: t('Place'),
    search: t('Search'),
    download: t('Download'),
    send: t('Send'),
    play: t('Play'),
    check: t('Check'),
    star: t('Star'),
  }
  return labels[icon] ?? icon
}
