import { message } from '../base/message.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../base/appError.ts';
import type { Lesson } from './lesson.ts';
import { readLesson } from './readLesson.ts';

/** Where the lessons lie: beside the sources, or beside the bundles. */
const places = ['./data/lessons/', './lessons/', './data/', '../data/lessons/'].map(
  (place) => new URL(place, import.meta.url),
);

/**
 * The lessons that come with the product, in the order in which they are taught.
 * @throws AppError `internal` where the installation lacks them
 */
export function builtInLessons(): Lesson[] {
  const folder = places
    .map((place) => fileURLToPath(place))
    .find((place) => existsSync(join(place, '01-name-and-uid.yaml')));
  if (folder === undefined) throw new AppError('internal', message`The lessons are missing from this installation.`);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => readLesson(readFileSync(join(folder, name), 'utf8'), name));
}

/**
 * One lesson, by its id or from a file of a teacher's.
 * @throws AppError `usage` where there is neither, `invalid-yaml` where the file is no lesson
 */
export function findLesson(idOrFile: string): Lesson {
  if (existsSync(idOrFile)) return readLesson(readFileSync(idOrFile, 'utf8'), idOrFile);
  const lessons = builtInLessons();
  const found = lessons.find((lesson) => lesson.id === idOrFile);
  if (found !== undefined) return found;
  throw new AppError('usage', message`There is no lesson and no file called "${idOrFile}".`, {
    advice: message`The lessons are ${lessons.map((lesson) => lesson.id).join(', ')}.`,
  });
}
