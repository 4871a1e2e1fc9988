/*
 * Runtime of compiled messages. Messages are written in `messages/en.json` and compiled to `*.gen.ts`
 * (scripts/messages.ts). English is part of the bundle, other languages load as one catalogue each.
 */

/** A text of one language: fixed, or a function of its inputs. */
// biome-ignore lint/suspicious/noExplicitAny: the inputs differ per text; `message` types them.
export type Text = string | ((inputs: any) => string)

/** A text in the language at the time of the call. */
export type LocalizedText = () => string

/** The texts of a language by message id. */
export type Catalogue = Record<string, Text>

let current: Catalogue | null = null

/** Sets the catalogue; texts that it lacks are shown in English. Null sets English. */
export function showCatalogue(catalogue: Catalogue | null): void {
  current = catalogue
}

/** Creates a message function that returns its text in the current language. */
export function message(id: string, english: string): () => string
export function message<Inputs>(id: string, english: (inputs: Inputs) => string): (inputs: Inputs) => string
export function message(id: string, english: Text): (inputs?: unknown) => string {
  return (inputs) => text(english, id, inputs)
}

/** A text in the current language; without an id it is looked up by its English text. */
export function text(english: Text, id?: string, inputs?: unknown): string {
  const found = current?.[id ?? textId(String(english))] ?? english
  return typeof found === 'string' ? found : found(inputs)
}

/** Id of a fixed text, derived from its English text. */
export function textId(english: string): string {
  let hash = 0x811c9dc5 // FNV-1a
  for (let index = 0; index < english.length; index++)
    hash = Math.imul(hash ^ english.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}

const pluralRules = new Map<string, Intl.PluralRules>()
const numberFormats = new Map<string, Intl.NumberFormat>()

/** The CLDR category of a number in a language: `one`, `few`, `other` … */
export function plural(locale: string, input: number): string {
  const rules = pluralRules.get(locale) ?? new Intl.PluralRules(locale)
  pluralRules.set(locale, rules)
  return rules.select(input)
}

/** A number with the separators of a language. */
export function number(locale: string, input: number): string {
  const format = numberFormats.get(locale) ?? new Intl.NumberFormat(locale)
  numberFormats.set(locale, format)
  return format.format(input)
}
