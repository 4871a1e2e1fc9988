import { type ReactNode, useState } from 'react'
import {
  CSV_DELIMITERS,
  CSV_ENCODINGS,
  type CsvEncoding,
  type CsvFormat,
} from '../../../src/core/csv/format.ts'
import type { ExcelFormat, FileKind, ImportFormat, JsonFormat } from '../../../src/core/imports/format.ts'
import { m } from '../../messages.gen.ts'
import styles from './draft-view.module.css'
import type { Draft, Drafts } from './use-drafts.ts'

interface OptionsProps<Format> {
  draft: Draft
  all: Drafts
  format: Format
}

/** Options of each kind of file. */
const OPTIONS: {
  [Kind in FileKind]: (props: OptionsProps<Extract<ImportFormat, { kind: Kind }>>) => ReactNode
} = {
  csv: CsvOptions,
  excel: ExcelOptions,
  json: JsonOptions,
}

const PLAIN_CSV: CsvFormat = {
  kind: 'csv',
  encoding: 'utf-8',
  delimiter: ',',
  header: true,
  quote: '"',
  guarded: false,
  decimal: '.',
}

/** Format options of a table; each change is analysed at once. */
export function FormatOptions({ draft, all }: { draft: Draft; all: Drafts }) {
  // A text file that cannot be read may be readable with other options. A choice shows before its analysis is there.
  const format = { ...(draft.analysis?.format ?? PLAIN_CSV), ...draft.chosen } as ImportFormat
  const Options = OPTIONS[format.kind] as (props: OptionsProps<ImportFormat>) => ReactNode
  return (
    <div className={styles.options}>
      <Options draft={draft} all={all} format={format} />
      <FormatSelect
        label={m.imports_decimal_places()}
        value={format.decimal}
        onChange={(value) => all.choose(draft, { decimal: value === ',' ? ',' : '.' })}
      >
        <option value=".">{m.imports_decimal_point_example()}</option>
        <option value=",">{m.imports_decimal_comma_example()}</option>
      </FormatSelect>
      {draft.analysis && (!draft.analysis.isComplete || draft.readAll !== undefined) && (
        <FormatCheck
          label={m.imports_check_all_rows()}
          tip={m.imports_check_all_rows_hint()}
          checked={draft.readAll ?? draft.analysis.isComplete}
          onChange={(readAll) => all.chooseReadAll(draft, readAll)}
        />
      )}
    </div>
  )
}

/** A labelled select of the format options. */
function FormatSelect(props: {
  label: string
  value: string
  onChange: (value: string) => void
  children: ReactNode
}) {
  return (
    <label className={styles.option}>
      <span>{props.label}</span>
      <select
        className={styles.select}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      >
        {props.children}
      </select>
    </label>
  )
}

function FormatCheck(props: {
  label: string
  tip?: string
  checked: boolean
  onChange: (isChecked: boolean) => void
}) {
  return (
    <label className={styles.option} data-tip={props.tip}>
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  )
}

function CsvOptions({ draft, all, format }: OptionsProps<CsvFormat>) {
  const delimiterNames: Record<string, string> = {
    ',': m.imports_comma(),
    ';': m.imports_semicolon(),
    '\t': m.imports_tab(),
    '|': m.imports_bar(),
    ':': m.imports_colon(),
    '^': m.imports_caret(),
    '~': m.imports_tilde(),
  }
  return (
    <>
      <FormatSelect
        label={m.imports_encoding()}
        value={format.encoding}
        onChange={(value) => all.choose(draft, { encoding: value as CsvEncoding })}
      >
        {CSV_ENCODINGS.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </FormatSelect>
      <FormatSelect
        label={m.imports_separator()}
        value={format.delimiter}
        onChange={(value) => all.choose(draft, { delimiter: value })}
      >
        {CSV_DELIMITERS.map((delimiter) => (
          <option key={delimiter} value={delimiter}>
            {delimiterNames[delimiter]}
          </option>
        ))}
      </FormatSelect>
      <FormatCheck
        label={
          (format.titleRow ?? 1) > 1
            ? m.imports_a_row_contains_field_names()
            : m.imports_first_row_contains_field_names()
        }
        checked={format.header}
        onChange={(header) => all.choose(draft, { header })}
      />
      {format.header && (
        <TitleRow
          key={format.titleRow}
          row={format.titleRow ?? 1}
          onChange={(titleRow) => all.choose(draft, { titleRow })}
        />
      )}
      {(format.escape || draft.chosen.escape !== undefined || (draft.analysis?.quoteProblems ?? 0) > 0) && (
        <FormatCheck
          label={m.imports_backslash()}
          tip={m.imports_backslash_hint()}
          checked={format.escape === '\\'}
          onChange={(isOn) => all.choose(draft, { escape: isOn ? '\\' : '' })}
        />
      )}
      {(format.formulaTexts || draft.chosen.formulaTexts !== undefined) && (
        <FormatCheck
          label={m.imports_formula_texts()}
          tip={m.imports_formula_texts_hint()}
          checked={format.formulaTexts === true}
          onChange={(formulaTexts) => all.choose(draft, { formulaTexts })}
        />
      )}
      {(format.guarded || draft.chosen.guarded !== undefined) && (
        <FormatCheck
          label={m.imports_unescape_formulas()}
          tip={m.imports_unescape_formulas_hint()}
          checked={format.guarded}
          onChange={(guarded) => all.choose(draft, { guarded })}
        />
      )}
    </>
  )
}

function ExcelOptions({ draft, all, format }: OptionsProps<ExcelFormat>) {
  const { titleRow, firstRow, range } = format
  const hasTitles = titleRow > 0
  return (
    <>
      <FormatCheck
        label={m.imports_a_row_contains_field_names()}
        checked={hasTitles}
        onChange={(isOn) => all.choose(draft, { titleRow: isOn ? firstRow : 0 })}
      />
      {hasTitles && (
        <TitleRow key={titleRow} row={titleRow} onChange={(row) => all.choose(draft, { titleRow: row })} />
      )}
      {(range || draft.chosen.range === null) && (
        <FormatCheck
          label={m.imports_whole_sheet()}
          tip={m.imports_whole_sheet_hint()}
          checked={!range}
          onChange={(isWhole) =>
            all.choose(draft, { range: isWhole ? null : draft.part, titleRow: undefined })
          }
        />
      )}
    </>
  )
}

/** Number of the row with the titles; taken over when the field is left. */
function TitleRow({ row, onChange }: { row: number; onChange: (row: number) => void }) {
  const [text, setText] = useState(String(row))
  function commit(): void {
    const next = Math.min(1_048_576, Math.max(1, Math.floor(Number(text)) || row))
    setText(String(next))
    if (next !== row) onChange(next)
  }
  return (
    <label className={styles.option}>
      <span>{m.imports_row_of_field_names()}</span>
      <input
        className={styles.number}
        type="number"
        min={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          commit()
        }}
      />
    </label>
  )
}

function JsonOptions({ draft, all, format }: OptionsProps<JsonFormat>) {
  const mayHaveTitles = format.titles !== undefined || format.header === false
  return (
    <>
      {mayHaveTitles && (
        <FormatCheck
          label={m.imports_first_row_contains_field_names()}
          checked={format.titles !== undefined}
          onChange={(header) => all.choose(draft, { header })}
        />
      )}
      <FormatCheck
        label={m.imports_flatten_objects()}
        tip={m.imports_flatten_objects_hint()}
        checked={format.flatten}
        onChange={(flatten) => all.choose(draft, { flatten })}
      />
    </>
  )
}
