import { SquareFunction } from 'lucide-react'
import { type KeyboardEvent, useId, useMemo, useRef, useState } from 'react'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { hasFormula, isSecret, showsPeople } from '../../../src/core/fields/traits.ts'
import {
  type CheckedFormula,
  checkFormula,
  type FormulaHelp,
  formulaField,
  formulaFunctions,
  type Problem,
  type ScalarType,
  signatureAt,
  storedReferences,
  toShown,
  toStored,
} from '../../../src/core/formula/index.ts'
import type { Field, FieldResult, Table } from '../../../src/core/model.ts'
import { plainMessage } from '../../../src/core/plain-message.ts'
import { ComputedView } from '../../cells/computed.tsx'
import look from '../../cells/formula-look.module.css'
import { CELLS } from '../../cells/index.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import { Option } from '../../ui/composite.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { keyed } from '../../ui/keyed.ts'
import { SearchInput } from '../../ui/search-input.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { useDebounced } from '../layout/use-debounced.ts'
import styles from './formula.module.css'
import { FormulaInput, type FormulaInputHandle } from './formula-input.tsx'
import {
  findOffers,
  insertionOf,
  type Offer,
  offersOf,
  shownArgument,
  syntaxParts,
  typingAt,
} from './offers.ts'

/** Delay before problems are shown, so that unfinished words raise none. */
const PAUSE_MS = 600

export interface FormulaEditorProps {
  label: string
  table: Pick<Table, 'id' | 'baseId'>
  /** The formula's field; null for a new field. */
  field: Field | null
  /** The stored formula, with field ids. */
  value: string
  onChange: (formula: string) => void
  /** Called when the formula's result type changes. */
  onType?: (type: ScalarType) => void
  /** How a result of that type is to be shown. */
  resultOf?: (type: ScalarType) => FieldResult
  /** Required result type, e.g. a URL; absent: any. */
  expects?: { type: ScalarType; message: string }
}

/** Formula editor with syntax colours, completion, help, error positions and a preview of results. */
export function FormulaEditor(props: FormulaEditorProps) {
  const { table, error } = useFormulaTable(props.table, props.field)
  if (error) return <ErrorState title={m.formula_fields_load_failed()} error={error} />
  return table ? <Loaded {...props} formulaTable={table} /> : <Skeleton height={300} />
}

function Loaded(props: FormulaEditorProps & { formulaTable: FormulaTable }) {
  const { label, field, value, onChange, onType, resultOf, expects, formulaTable } = props
  const { all, fields, functions, check } = formulaTable
  const [text, setText] = useState(() => toShown(value, all))
  const [caret, setCaret] = useState<number | null>(null)
  const [search, setSearch] = useState('')
  const [isDismissed, setDismissed] = useState(false)
  const [activeId, setActiveId] = useState<string | null>(null)
  const input = useRef<FormulaInputHandle>(null)
  const lastCaret = useRef(text.length)
  const listId = useId()
  const notesId = useId()

  const settled = useDebounced(text, PAUSE_MS)
  const checked = useMemo(() => check(text), [check, text])
  const type = checked.ok ? checked.type : null
  const problems = problemsOf(checked, text, expects)
  useOnChange([type], () => {
    if (type !== null) onType?.(type)
  })
  const shownProblems = settled === text && text.trim() !== '' ? problems : []

  const typing = caret === null || isDismissed ? null : typingAt(text, caret)
  const everything = useMemo(() => offersOf(fields, functions), [fields, functions])
  const found = typing
    ? findOffers(everything, typing.prefix, typing.isField)
    : findOffers(everything, search)
  // A complete name needs no completion.
  const isExact = typing !== null && found.length === 1 && found[0]?.name === typing.prefix
  const isCompleting = typing !== null && found.length > 0 && !isExact
  const offers = typing && found.length === 0 ? findOffers(everything, search) : found
  const active = offers.find((offer) => offerId(listId, offer) === activeId) ?? offers[0]
  const signature = caret === null ? null : signatureAt(text, caret)
  const called = signature && functions.find(({ name }) => name === signature.name)
  // Inside a function call, shows that function's help unless the user is searching or has selected an offer.
  const isBrowsing = typing === null && search === '' && activeId === null
  const helped: Offer | undefined =
    called && isBrowsing ? { kind: 'function', name: called.name, help: called } : active

  function change(next: string, at: number) {
    setText(next)
    setCaret(at)
    setDismissed(false)
    setActiveId(null)
    lastCaret.current = at
    onChange(toStored(next, all))
  }

  function choose(offer: Offer) {
    const place = typing ?? { from: lastCaret.current, to: lastCaret.current }
    const { text: inserted, from, to, caret: at } = insertionOf(text, offer, place)
    input.current?.insert(inserted, from, to, at)
    setSearch('')
  }

  const step = (by: number) => {
    const at = active ? offers.indexOf(active) : -1
    const next = offers[(at + by + offers.length) % offers.length]
    if (next) setActiveId(offerId(listId, next))
  }

  function onKey(event: KeyboardEvent): boolean {
    const isModified = event.ctrlKey || event.metaKey || event.altKey
    if (!isCompleting || isModified || event.shiftKey || !active) return false
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(event.key === 'ArrowDown' ? 1 : -1)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(active)
    else if (event.key === 'Escape') setDismissed(true)
    else return false
    return true
  }

  function onSearchKey(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(event.key === 'ArrowDown' ? 1 : -1)
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && active) choose(active)
    else return
    event.preventDefault()
  }

  return (
    <div className={styles.editor}>
      <span className={styles.label}>{label}</span>
      <FormulaInput
        ref={input}
        label={label}
        describedBy={notesId}
        listId={listId}
        activeId={isCompleting && active ? offerId(listId, active) : undefined}
        value={text}
        problems={shownProblems}
        onChange={change}
        onCaret={(at) => {
          setCaret(at)
          if (at !== null) lastCaret.current = at
        }}
        onKey={onKey}
      />
      <div id={notesId} className={styles.notes} aria-live="polite">
        {shownProblems.slice(0, 3).map((problem) => (
          <button
            key={`${problem.from} ${problem.message}`}
            type="button"
            className={styles.problem}
            data-testid="formula-problem"
            onClick={() => input.current?.select(problem.from, problem.to)}
          >
            {plainMessage(problem.message)}
            {problem.path && <span dir="auto">: {problem.path.join(' → ')}</span>}
          </button>
        ))}
        {shownProblems.length === 0 &&
          (called && signature ? (
            <Syntax syntax={called.syntax} argument={signature.argument} />
          ) : (
            <span>
              {m.formula_formula_hint({
                example: '{Price}',
              })}
            </span>
          ))}
      </div>
      <div className={styles.shelf}>
        <div className={styles.choose}>
          <SearchInput
            label={m.formula_find_a_field_or_function()}
            aria-controls={listId}
            value={search}
            onSearch={(next) => {
              setSearch(next)
              setActiveId(null)
            }}
            onKeyDown={onSearchKey}
            className={styles.search}
          />
          <OfferList
            id={listId}
            offers={offers}
            active={active}
            isCompleting={isCompleting}
            onActive={(offer) => setActiveId(offerId(listId, offer))}
            onChoose={choose}
          />
        </div>
        {helped && <OfferHelp offer={helped} />}
      </div>
      <FormulaPreview
        tableId={props.table.id}
        fieldId={field?.id}
        formula={settled}
        isReady={settled === text && problems.length === 0}
        result={type === null ? undefined : resultOf?.(type)}
      />
    </div>
  )
}

function problemsOf(
  checked: CheckedFormula,
  text: string,
  expects: FormulaEditorProps['expects'],
): Problem[] {
  if (!checked.ok) return checked.problems
  if (!expects || checked.type === expects.type || checked.type === 'null') return []
  return [{ type: 'TYPE_MISMATCH', message: expects.message, from: 0, to: text.length }]
}

/** Help for a field or a function, with examples. */
function OfferHelp({ offer }: { offer: Offer }) {
  if (offer.kind === 'field') {
    const { field, name } = offer
    return (
      <div className={styles.help} data-testid="formula-help">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <p>{fieldType(field.type).label()}</p>
        {field.description && <p dir="auto">{field.description}</p>}
        {field.error && <p className={styles.problem}>{field.error}</p>}
      </div>
    )
  }
  const { syntax, help, examples } = offer.help
  return (
    <div className={styles.help} data-testid="formula-help">
      <Syntax syntax={syntax} />
      <p>{help}</p>
      <dl className={styles.examples}>
        {examples.slice(0, 4).map(({ formula, result }) => (
          <div key={formula}>
            <dt dir="ltr">{formula}</dt>
            <dd dir="auto">{result === null ? m.common_empty() : String(result)}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

/** A function's syntax; highlights the argument at the caret. */
function Syntax({ syntax, argument }: { syntax: string; argument?: number }) {
  const shown = argument === undefined ? null : shownArgument(syntax, argument)
  return (
    <code className={styles.syntax} dir="ltr">
      {keyed(syntaxParts(syntax), (part) => part.text).map(({ key, item: part }) => (
        <span key={key} data-current={(part.argument !== null && part.argument === shown) || undefined}>
          {part.text}
        </span>
      ))}
    </code>
  )
}

interface OfferListProps {
  id: string
  offers: readonly Offer[]
  active: Offer | undefined
  /** True while a word is being written: Enter takes the active one. */
  isCompleting: boolean
  onActive: (offer: Offer) => void
  onChoose: (offer: Offer) => void
}

/** Id of an offer's line, for the input that it belongs to. */
const offerId = (listId: string, { kind, name }: Offer): string => `${listId}-${kind}-${name}`

/** Fields and functions that can be put into the formula. */
function OfferList({ id, offers, active, isCompleting, onActive, onChoose }: OfferListProps) {
  return (
    <div id={id} role="listbox" aria-label={m.formula_fields_and_functions()} className={styles.offers}>
      {offers.map((offer) => {
        const Icon = offer.kind === 'field' ? CELLS[offer.field.type].Icon : SquareFunction
        return (
          <Option
            key={offerId(id, offer)}
            id={offerId(id, offer)}
            isActive={offer === active}
            aria-selected={offer === active}
            data-active={offer === active || undefined}
            data-completing={(offer === active && isCompleting) || undefined}
            data-testid="formula-offer"
            className={styles.offer}
            // The caret stays where it is.
            onPointerDown={(event) => event.preventDefault()}
            onPointerMove={() => offer !== active && onActive(offer)}
            onClick={() => onChoose(offer)}
          >
            <Icon size={14} aria-hidden />
            <span className={styles.offerName} data-kind={offer.kind} dir="auto">
              {offer.name}
            </span>
          </Option>
        )
      })}
      {offers.length === 0 && <p className={styles.none}>{m.formula_no_matching_fields_or_functions()}</p>}
    </div>
  )
}

/** A table as its formulas see it. */
interface FormulaTable {
  /** All fields, by which titles become ids and ids titles. */
  all: Field[]
  /** The fields offered for completion. */
  fields: Field[]
  /** The functions of the table's database. */
  functions: FormulaHelp[]
  /** Checks as the server does, but for circles through other tables. */
  check: (text: string) => CheckedFormula
}

/** Null while the table is being read. @param self the field that has the formula, which it cannot read */
function useFormulaTable(
  { id, baseId }: Pick<Table, 'id' | 'baseId'>,
  self: Field | null,
): { table: FormulaTable | null; error: unknown } {
  const schema = trpc.schema.table.useQuery({ tableId: id })
  const sources = trpc.sources.list.useQuery({ baseId })
  const table = useMemo(() => {
    const source = sources.data?.find((one) => one.id === schema.data?.table.sourceId)
    if (!schema.data || !source) return null
    const { fields } = schema.data
    const byId = new Map(fields.map((field) => [field.id, field]))
    const referencesOf = (fieldId: string) => {
      const field = byId.get(fieldId)
      return field && hasFormula(field) ? storedReferences(formulaOf(field).formula) : []
    }
    const context = {
      fields: fields.map(formulaField),
      client: source.client,
      referencesOf,
      ...(self && { selfId: self.id }),
    }
    return {
      all: fields,
      fields: fields.filter((field) => field.id !== self?.id && isOffered(field)),
      functions: formulaFunctions(source.client),
      check: (text: string) => checkFormula(text, context),
    }
  }, [schema.data, sources.data, self])
  return { table, error: schema.error ?? sources.error }
}

/** System fields, people, who are ids in a formula, and fields without a value can be referenced but are not offered. */
function isOffered(field: Field): boolean {
  const { computed } = fieldType(field.type)
  const hasValue = !isSecret(field) && computed !== 'button' && computed !== 'code'
  return hasValue && !field.isSystem && !showsPeople(field)
}

/** Records that a formula is tried on. */
const ROWS = 3

interface FormulaPreviewProps {
  tableId: string
  fieldId: string | undefined
  /** The formula with titles. */
  formula: string
  /** False while it is being written, or has problems. */
  isReady: boolean
  /** How the result is shown, where that has been chosen. */
  result?: FieldResult
}

/** Results for the first records, computed by the database. */
function FormulaPreview({ tableId, fieldId, formula, isReady, result }: FormulaPreviewProps) {
  const isAsked = isReady && formula.trim() !== ''
  const preview = trpc.records.previewFormula.useQuery(
    { tableId, formula, timeZone, limit: ROWS, ...(fieldId !== undefined && { fieldId }) },
    { enabled: isAsked, staleTime: 0, retry: false, placeholderData: (before) => before },
  )
  const schema = trpc.schema.table.useQuery({ tableId })
  const { data } = preview
  const name = schema.data?.fields.find(({ isDisplay }) => isDisplay)
  if (preview.error && isAsked) {
    return (
      <p role="alert" className={styles.problem}>
        {messageOf(preview.error)}
      </p>
    )
  }
  return (
    <section className={styles.preview} aria-label={m.formula_result()} data-testid="formula-preview">
      <h3>{m.formula_result()}</h3>
      {!data && isAsked && <Skeleton height={60} />}
      {!data && !isAsked && <p>{m.formula_result_first_records_appears_here()}</p>}
      {data && !data.ok && (
        <p role="alert" className={styles.problem}>
          {plainMessage(data.problems[0]?.message ?? '')}
        </p>
      )}
      {data?.ok && data.page.rows.length === 0 && <p>{m.formula_no_records_yet()}</p>}
      {data?.ok && data.page.rows.length > 0 && name && (
        <table className={look.values} data-stale={!isAsked || preview.isPlaceholderData || undefined}>
          <tbody>
            {data.page.rows.map(([title, value], index) => (
              <tr key={data.page.ids[index]}>
                <th scope="row">
                  <bdi>
                    {titleOf(name, title ?? null) || m.common_record_id({ id: String(data.page.ids[index]) })}
                  </bdi>
                </th>
                <td data-testid="formula-result">
                  {value === null || value === undefined ? (
                    <span className={styles.none}>{m.common_empty()}</span>
                  ) : (
                    <ComputedView
                      value={value}
                      field={{ ...name, result: result ?? data.result, error: null }}
                      options={{}}
                      variant="grid"
                      lines={1}
                      width={null}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const titleOf = ({ type, options, result }: Field, value: string | number | boolean | null): string =>
  fieldType(result?.type ?? type).format(value, result?.options ?? options)
