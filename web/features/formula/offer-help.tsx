import { fieldType } from '../../../src/core/fields/index.ts'
import { m } from '../../messages.gen.ts'
import { keyed } from '../../ui/keyed.ts'
import styles from './formula.module.css'
import { type Offer, shownArgument, syntaxParts } from './offers.ts'

/** What a field is, or what a function does, with examples. */
export function OfferHelp({ offer }: { offer: Offer }) {
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

/** How a function is written; with `argument`, the one that is being written stands out. */
export function Syntax({ syntax, argument }: { syntax: string; argument?: number }) {
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
