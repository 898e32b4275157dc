export { casesOf, newSeed, seedsUpTo } from './seeds.ts';
