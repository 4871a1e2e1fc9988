import { useEffect, useReducer, useRef, useState } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { FormOptions } from '../../../src/core/views/form.ts'
import type { Question } from '../../../src/core/views/question.ts'
import { messageOf } from '../../errors.ts'
import { localSettings, readJsonSetting } from '../../session/local-settings.ts'
import { timeZone } from '../../time-zone.ts'
import type { AnswerRules } from './answer-rules.ts'
import { AnswersRefused, type FormSource, type LocalFile, type Submitted } from './form-source.ts'
import type { Prefill } from './prefill.ts'

type Values = Record<string, CellValue>

/** State of a form: filling in, sending (`part` is the upload progress from 0 to 1), or done. */
export type RunStatus =
  | { kind: 'filling'; failure: string | null }
  | { kind: 'sending'; part: number }
  | { kind: 'done'; submitted: Submitted }

/** State and actions of a form that is being filled in. */
export interface FormRun {
  source: FormSource
  options: FormOptions
  /** False until the rules have been loaded: answers are kept, but neither checked nor submitted. */
  isReady: boolean
  /** Currently visible questions: conditions are met, and the URL does not hide them. */
  questions: readonly Question[]
  isReadOnly: (fieldId: string) => boolean
  value: (fieldId: string) => CellValue
  files: (fieldId: string) => readonly LocalFile[]
  /** Error to show at a question; null: no error, or not shown yet. */
  problem: (fieldId: string) => string | null
  /** All problems in the order of the questions; empty before the first attempt to submit. */
  problems: { fieldId: string; message: string }[]
  status: RunStatus
  /** True if the user has changed an answer, or unsent answers were restored. */
  isTouched: boolean
  /** Increases when the form is cleared; used in React keys to discard the editors' drafts. */
  epoch: number
  set: (fieldId: string, value: CellValue) => void
  setFiles: (fieldId: string, files: readonly LocalFile[]) => void
  /** Sets the error of an editor's unparsable text; null clears it. */
  setUnread: (fieldId: string, message: string | null) => void
  /** Marks a question as left, so that its problem is shown. */
  leave: (fieldId: string) => void
  /** Shows the problems of some questions, or of all; returns true if there are none. */
  check: (fieldIds?: readonly string[]) => boolean
  /** Submits valid answers; returns false and shows the problems if any answer is invalid. */
  submit: () => boolean
  clear: () => void
}

/**
 * Holds a form's answers, stores them across reloads, validates and submits them.
 *
 * @param rules null until they have been loaded, for forms whose questions are all shown at first
 */
export function useFormRun(
  source: FormSource,
  rules: AnswerRules | null,
  prefill: Prefill | null = null,
): FormRun {
  const { view, fields, people, actorId, options } = source
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const [state] = useState(() => newState(source, rules, prefill))
  const keep = () => {
    if (source.keepAs !== null && rules)
      savedAnswers.write(source.keepAs, rules.keepable(source, state.values))
  }
  if (rules && !state.isStarted) {
    state.values = { ...rules.startValues(source), ...state.values }
    state.isStarted = true
    if (state.isTouched) keep()
  }
  const [status, setStatus] = useState<RunStatus>({ kind: 'filling', failure: null })
  const aborter = useRef<AbortController>(null)
  useEffect(() => () => aborter.current?.abort(), [])

  const moment = { timeZone, people, actorId }
  /** The visible questions and the checked answers; all questions, unchecked, until the rules have been loaded. */
  const evaluate = () => {
    if (!rules) return { questions: source.questions, problems: [], values: {} }
    const all = { ...state.values, ...rules.fileCells(state.files) }
    const questions = rules.visibleQuestions(view, fields, all, moment)
    return { questions, ...rules.checkAnswers({ view, fields, values: all, ...moment }) }
  }
  const { questions, problems, values } = evaluate()
  const asked = new Set(questions.map(({ field }) => field.id))
  const messages = new Map(problems.map(({ fieldId, message }) => [fieldId, message]))
  for (const [fieldId, message] of [...state.unread, ...state.refused]) {
    if (asked.has(fieldId)) messages.set(fieldId, message)
  }
  const inOrder = questions.flatMap(({ field }) => {
    const message = messages.get(field.id)
    return message === undefined ? [] : [{ fieldId: field.id, message }]
  })
  const latest = useRef({ inOrder, values, questions })
  latest.current = { inOrder, values, questions }

  /** True for a question prefilled from the URL, until a submission finds its value invalid. */
  const isFixed = (ids: ReadonlySet<string> | undefined, fieldId: string): boolean =>
    (ids?.has(fieldId) ?? false) && !(state.hasTried && messages.has(fieldId))
  const changed = (fieldId: string) => {
    state.refused.delete(fieldId)
    state.isTouched = true
    state.submissionId = crypto.randomUUID()
    keep()
    redraw()
  }
  /** Checks the latest answers, which may not be rendered yet. */
  const checkLatest = () => {
    const checked = evaluate()
    const shown = checked.questions.map(({ field }) => field.id)
    const bad = new Set([...checked.problems.map(({ fieldId }) => fieldId), ...state.unread.keys()])
    return { values: checked.values, bad: shown.filter((id) => bad.has(id)) }
  }
  const send = async (submitted: Values) => {
    const controller = new AbortController()
    aborter.current = controller
    setStatus({ kind: 'sending', part: 0 })
    try {
      const result = await source.submit({
        id: state.submissionId,
        values: withoutFiles(submitted, state.files),
        files: filesAsked(state.files, new Set(latest.current.questions.map(({ field }) => field.id))),
        onProgress: (part) => setStatus({ kind: 'sending', part }),
        signal: controller.signal,
      })
      if (source.keepAs !== null) savedAnswers.clear(source.keepAs)
      setStatus({ kind: 'done', submitted: result })
    } catch (error) {
      if (controller.signal.aborted) return
      if (error instanceof AnswersRefused) {
        for (const { fieldId, message } of error.problems) state.refused.set(fieldId, message)
        state.hasTried = true
      }
      setStatus({ kind: 'filling', failure: messageOf(error) })
    }
  }

  return {
    source,
    options,
    isReady: rules !== null,
    status,
    isTouched: state.isTouched,
    epoch: state.epoch,
    questions: questions.filter(
      // Visitors do not see members, so user fields would have no options.
      ({ field }) =>
        !isFixed(prefill?.hidden, field.id) && !(rules?.holdsPeople(field) && people.length === 0),
    ),
    isReadOnly: (fieldId) => isFixed(prefill?.readOnly, fieldId),
    value: (fieldId) => state.values[fieldId] ?? null,
    files: (fieldId) => state.files[fieldId] ?? [],
    problem(fieldId) {
      if (!state.hasTried && !state.left.has(fieldId) && !state.refused.has(fieldId)) return null
      return messages.get(fieldId) ?? null
    },
    problems: state.hasTried ? inOrder : [],
    set(fieldId, value) {
      if (Object.is(state.values[fieldId] ?? null, value)) return
      state.values = { ...state.values, [fieldId]: value }
      changed(fieldId)
    },
    setFiles(fieldId, files) {
      state.files = { ...state.files, [fieldId]: [...files] }
      changed(fieldId)
    },
    setUnread(fieldId, message) {
      if ((state.unread.get(fieldId) ?? null) === message) return
      if (message === null) state.unread.delete(fieldId)
      else state.unread.set(fieldId, message)
      redraw()
    },
    leave(fieldId) {
      // Empty answers are reported on submit only, as users may fill in a form in any order.
      const isEmpty = (state.values[fieldId] ?? null) === null && !state.unread.has(fieldId)
      if (isEmpty || state.left.has(fieldId)) return
      afterPress(() => {
        state.left.add(fieldId)
        redraw()
      })
    },
    check(fieldIds) {
      const { bad } = checkLatest()
      for (const id of fieldIds ?? []) state.left.add(id)
      if (fieldIds === undefined) state.hasTried = true
      redraw()
      return fieldIds === undefined ? bad.length === 0 : !bad.some((id) => fieldIds.includes(id))
    },
    submit() {
      if (status.kind === 'sending') return true
      const { bad, values } = checkLatest()
      state.hasTried = bad.length > 0
      state.refused.clear()
      redraw()
      if (bad.length === 0) void send(values)
      return bad.length === 0
    },
    clear() {
      if (source.keepAs !== null) savedAnswers.clear(source.keepAs)
      Object.assign(state, newState(source, rules, prefill), { epoch: state.epoch + 1 })
      setStatus({ kind: 'filling', failure: null })
      redraw()
    },
  }
}

function newState(source: FormSource, rules: AnswerRules | null, prefill: Prefill | null) {
  const kept = source.keepAs === null ? {} : savedAnswers.read(source.keepAs)
  return {
    isStarted: rules !== null,
    values: { ...rules?.startValues(source), ...prefill?.values, ...kept, ...fixedBy(prefill) } as Values,
    files: {} as Record<string, LocalFile[]>,
    unread: new Map<string, string>(),
    refused: new Map<string, string>(),
    left: new Set<string>(),
    hasTried: false,
    isTouched: Object.keys(kept).length > 0,
    submissionId: crypto.randomUUID(),
    epoch: 0,
  }
}

/** Prefilled answers of hidden and read-only questions; these override stored answers. */
const fixedBy = (prefill: Prefill | null): Values =>
  Object.fromEntries(
    Object.entries(prefill?.values ?? {}).filter(
      ([id]) => prefill?.hidden.has(id) || prefill?.readOnly.has(id),
    ),
  )

const withoutFiles = (values: Values, files: Record<string, LocalFile[]>): Values =>
  Object.fromEntries(Object.entries(values).filter(([id]) => !(id in files)))

const filesAsked = (files: Record<string, LocalFile[]>, asked: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(files).filter(([id, list]) => asked.has(id) && list.length > 0))

let isPressed = false
let waiting: (() => void)[] = []

function release(): void {
  isPressed = false
  // A timeout, to run after the click event that follows `pointerup`.
  setTimeout(() => {
    const due = waiting
    waiting = []
    for (const run of due) run()
  })
}

document.addEventListener(
  'pointerdown',
  () => {
    isPressed = true
  },
  true,
)
document.addEventListener('pointerup', release, true)
document.addEventListener('pointercancel', release, true)

/**
 * Runs at once or, while a pointer is pressed, after its release: an error message that appears on blur would
 * shift the page, and the click would miss its button.
 */
function afterPress(run: () => void): void {
  if (isPressed) waiting.push(run)
  else run()
}

/** Time after which unsent answers expire. */
const KEPT_MS = 30 * 24 * 3_600_000

const nameOf = (formId: string) => `form.${formId}` as const

interface Kept {
  at: number
  values: Values
}

const isKept = (value: unknown): value is Kept =>
  typeof value === 'object' &&
  value !== null &&
  'at' in value &&
  typeof value.at === 'number' &&
  'values' in value &&
  typeof value.values === 'object'

/** Unsent answers, kept across a reload or a closed tab. Excludes files. */
export const savedAnswers = {
  /** True if there are answers to restore. */
  has: (formId: string): boolean => Object.keys(savedAnswers.read(formId)).length > 0,

  read(formId: string): Values {
    const { at, values } = readJsonSetting<Kept>(nameOf(formId), { at: 0, values: {} }, isKept)
    return Date.now() - at < KEPT_MS ? values : {}
  },
  write: (formId: string, values: Values): void =>
    localSettings.set(nameOf(formId), JSON.stringify({ at: Date.now(), values } satisfies Kept)),
  clear: (formId: string): void => localSettings.remove(nameOf(formId)),
}
