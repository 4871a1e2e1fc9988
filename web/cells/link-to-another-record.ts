import { Link } from 'lucide-react'
import { linkToAnotherRecord } from '../../src/core/fields/links.ts'
import { linksCell } from './links-cell.tsx'

/** A link whose records programs get whole. */
export const linkToAnotherRecordCell = linksCell(linkToAnotherRecord, Link)
