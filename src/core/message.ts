/*
 * What a compiled text needs at run time. Texts are written in `messages/en.json` and compiled to `*.gen.ts`
 * (scripts/messages.ts); English is part of the code that shows it, other languages come as one catalogue each.
 */

/** A text of one language: fixed, or a function of its inputs. */
// biome-ignore lint/suspicious/noExplicitAny: the inputs differ per text; `message` types them.
export type Text = string | ((inputs: any) => string)

/** A text in the language shown at the time of the call. */
export type LocalizedText = () => string

/** The texts of a language by message id. */
export type Catalogue = Record<string, Text>

let shown: Catalogue = {}

/** Shows texts of this catalogue from now on; English stands in where it lacks one. */
export function showCatalogue(catalogue: Catalogue): void {
  shown = catalogue
}

/** A text as a function: of its inputs, in the language shown at the time of the call. */
export function message(id: string, english: string): () => string
export function message<Inputs>(id: string, english: (inputs: Inputs) => string): (inputs: Inputs) => string
export function message(id: string, english: Text): (inputs?: unknown) => string {
  return (inputs) => {
    const text = shown[id] ?? english
    return typeof text === 'string' ? text : text(inputs)
  }
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
