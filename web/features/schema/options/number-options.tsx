import { localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import editor from '../field-editor.module.css'
import { Choice, type OptionsProps, tickOption } from './controls.tsx'

const PRECISIONS = Array.from({ length: 9 }, (_, digits) => ({
  value: digits,
  label: digits === 0 ? '1' : `1.${'0'.repeat(digits)}`,
}))

const CURRENCIES = [
  'USD',
  'EUR',
  'GBP',
  'JPY',
  'CNY',
  'INR',
  'CHF',
  'CAD',
  'AUD',
  'BRL',
  'SEK',
  'NOK',
  'DKK',
  'PLN',
  'CZK',
  'TRY',
  'AED',
  'SAR',
  'IRR',
  'ILS',
  'KRW',
  'MXN',
  'ZAR',
]

/** Options of numbers: thousands separators. */
export const NumberOptions = tickOption('thousands', m.schema_thousands_separator)

export function DecimalOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Precision options={options} onChange={onChange} mayBeAll />
      <NumberOptions options={options} onChange={onChange} />
    </div>
  )
}

const ProgressBar = tickOption('bar', m.schema_show_as_progress_bar)

export function PercentOptions({ options, onChange }: OptionsProps) {
  return (
    <div className={editor.part}>
      <Precision options={options} onChange={onChange} />
      <ProgressBar options={options} onChange={onChange} />
    </div>
  )
}

export function CurrencyOptions({ options, onChange }: OptionsProps) {
  const names = new Intl.DisplayNames(localeTag(), { type: 'currency' })
  const code = String(options.code)
  const offered = CURRENCIES.includes(code) ? CURRENCIES : [code, ...CURRENCIES]
  return (
    <div className={editor.part}>
      <Choice
        label={m.schema_currency()}
        value={code}
        values={offered.map((value) => ({ value, label: `${value} · ${names.of(value) ?? value}` }))}
        onChange={(next) => onChange({ ...options, code: next })}
      />
      <Choice
        label={m.schema_format_for()}
        value={String(options.locale)}
        values={locales(String(options.locale))}
        onChange={(locale) => onChange({ ...options, locale })}
      />
      <Precision options={options} onChange={onChange} />
    </div>
  )
}

function Precision({ options, onChange, mayBeAll }: OptionsProps & { mayBeAll?: boolean }) {
  return (
    <Choice
      label={m.schema_decimal_places_shown()}
      value={options.precision === null ? ALL : Number(options.precision)}
      values={mayBeAll ? [{ value: ALL, label: m.schema_all() }, ...PRECISIONS] : PRECISIONS}
      onChange={(precision) => onChange({ ...options, precision: precision === ALL ? null : precision })}
    />
  )
}

/** Select value for "all decimal places". */
const ALL = -1

const LOCALES = [
  'en-US',
  'en-GB',
  'de-DE',
  'fr-FR',
  'es-ES',
  'it-IT',
  'pt-BR',
  'nl-NL',
  'sv-SE',
  'pl-PL',
  'ja-JP',
  'zh-CN',
  'hi-IN',
  'ar-EG',
  'fa-IR',
  'he-IL',
  'tr-TR',
]

function locales(current: string): { value: string; label: string }[] {
  const names = new Intl.DisplayNames(localeTag(), { type: 'language' })
  const list = LOCALES.includes(current) ? LOCALES : [current, ...LOCALES]
  return list.map((value) => ({ value, label: names.of(value) ?? value }))
}
