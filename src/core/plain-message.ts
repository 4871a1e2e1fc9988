import { m } from './messages.gen.ts'

/**
 * The wording for people of a message whose exact text REST clients rely on, or that names a deleted object by its id.
 * Returns others unchanged.
 */
export function plainMessage(message: string): string {
  const exact = clearerMessages()[message]
  if (exact !== undefined) return exact
  for (const [pattern, wording] of WIRE_PATTERNS) {
    const match = pattern.exec(message)
    if (match) return wording(match[1] ?? '', match[2] ?? '')
  }
  return message
}

/** Messages whose exact text REST clients rely on, and the app's wording. */
const clearerMessages = (): Record<string, string> => ({
  'Invalid credentials': m.error_incorrect_email_or_password(),
  'User already exist': m.error_account_exists(),
  'Invalid invite url': m.error_invitation_unusable(),
  'Invalid reset url': m.error_link_unusable(),
  'Not allowed to signup, contact super admin.': m.error_sign_up_by_invitation(),
  'Empty options are not allowed!': m.error_option_without_name(),
  'Duplicates are not allowed!': m.error_option_names_repeated(),
  "Illegal char(',') for MultiSelect": m.error_option_names_with_commas(),
  'Required arguments missing': m.error_wrong_number_of_arguments(),
  'Minimum arguments required': m.error_too_few_arguments(),
  'Maximum arguments missing': m.error_too_many_arguments(),
  'Numeric type is expected': m.error_expected_a_number(),
  'Date type is expected': m.error_expected_a_date(),
  'Boolean type is expected': m.error_expected_a_condition(),
  'String type is expected': m.error_expected_text(),
  'Circular reference detected': m.error_formula_refers_to_itself(),
  'Compound statement is not supported': m.error_several_expressions(),
})

/** Such messages with names in them. */
const WIRE_PATTERNS: readonly [RegExp, (first: string, second: string) => string][] = [
  [/^Invalid column name\/id (.+) in formula$/, (name) => m.error_no_field_named({ name })],
  [/^Duplicate table alias '(.*)' at base '[^']*'$/, (title) => m.error_table_exists({ title })],
  [
    /^Duplicate column alias '(.*)' at table '[^']*', base '[^']*'$/,
    (title) => m.error_field_exists({ title }),
  ],
  [/^Duplicate view alias '(.*)' at table '[^']*'$/, (title) => m.error_view_exists({ title })],
  [
    /^Following characters are not allowed "(.*)"$/,
    (characters) => m.error_characters_not_allowed({ characters }),
  ],
  [
    /^Updating (\w+) => (\w+) is not implemented$/,
    (from, to) => m.error_type_conversion_impossible({ from, to }),
  ],
  [/^Forbidden - (.+)$/, (reason) => reason],
  [/^Table '[^']*' not found$/, m.error_table_was_deleted],
  [/^View '[^']*' not found$/, m.error_view_was_deleted],
  [/^Field '[^']*' not found$/, m.error_field_was_deleted],
  [/^Base '[^']*' not found$/, m.error_base_was_deleted],
  [/^Source '[^']*' not found$/, m.error_source_was_removed],
]
